package robot

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"errand/deviceio/wire"
)

// pipe keeps what is written to it.
type pipe struct {
	io.ReadCloser
	bytes.Buffer
}

func (p *pipe) Read([]byte) (int, error) { return 0, io.EOF }

// frameOf is a masked text frame, as a client sends it.
func frameOf(payload string) []byte {
	frame := []byte{0x81}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	mask := [4]byte{7, 77, 177, 250}
	frame = append(frame, mask[:]...)
	for i := range len(payload) {
		frame = append(frame, payload[i]^mask[i%4])
	}
	return frame
}

// However the bytes are cut, the frame with the wanted answer goes out twice, whole, and every other once.
func TestEchoDoublesOneFrame(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 60, 125, 126, 1000, 1<<16 - 1, 1 << 16, 200_000} {
		answer := `"` + strings.Repeat("x", length) + `"`
		result := frameOf(`{"method":"` + wire.MethodInvokeResult + `","payload":` + answer + `}`)
		other, event := frameOf("{}"), frameOf(`{"method":"`+wire.MethodNodeEvent+`","payload":`+answer+`}`)
		e, out := new(echo), new(pipe)
		if _, err := e.expect(strings.Repeat("x", length)); err != nil {
			t.Fatal(err)
		}
		all := bytes.Join([][]byte{other, event, result, other, result}, nil)
		conn := &echoing{ReadWriteCloser: out, echo: e}
		for random := rand.New(rand.NewPCG(1, uint64(length))); len(all) > 0; {
			n := min(len(all), 1+random.IntN(1+len(result)))
			if m, err := conn.Write(all[:n]); m != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", m, n, err)
			}
			all = all[n:]
		}
		if want := bytes.Join([][]byte{other, event, result, result, other, result}, nil); !bytes.Equal(out.Bytes(), want) {
			t.Errorf("an answer of %d bytes: %d bytes went out, want %d", length, out.Len(), len(want))
		}
	}
}
