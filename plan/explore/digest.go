package explore

import (
	"math/bits"
)

// digest is a 64-bit sum over everything in a value: every field of every struct, however deep (adder.go).
type digest struct {
	sum uint64
	// found says that the secret was among the texts (law 4).
	found bool
}

const (
	seed  = 0x9e3779b97f4a7c15
	prime = 0xa0761d6478bd642f
)

func newDigest() digest { return digest{sum: seed} }

func (d *digest) word(x uint64) {
	hi, lo := bits.Mul64(d.sum^x, prime)
	d.sum = hi ^ lo ^ seed
}

func (d *digest) text(s string) {
	if s == secret {
		d.found = true
	}
	d.word(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		d.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	if len(s) == 0 {
		return
	}
	var rest uint64
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
	}
	d.word(rest)
}

func (d *digest) truth(b bool) {
	if b {
		d.word(1)
		return
	}
	d.word(2)
}
