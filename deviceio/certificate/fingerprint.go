package certificate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"errand/deviceio/wire"
)

// Certificate is one certificate with its key.
type Certificate struct {
	TLS         tls.Certificate
	Fingerprint string // lowercase hex SHA-256 of the certificate itself, the first of its chain
	From        time.Time
	Until       time.Time // when it expires
	pem         string    // certificate and key, as they are kept
}

// errNoCertificate says that there is no certificate in a PEM text.
var errNoCertificate = errors.New("no certificate in it")

// parse reads a certificate with its chain and its key from PEM.
func parse(cert, key []byte) (*Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate and key: %w", err)
	}
	if pair.Leaf == nil {
		return nil, errNoCertificate
	}
	return &Certificate{TLS: pair, Fingerprint: wire.Fingerprint(pair.Certificate[0]), Until: pair.Leaf.NotAfter,
		pem: string(cert) + "\n" + string(key)}, nil
}
