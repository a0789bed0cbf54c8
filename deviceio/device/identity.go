package device

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"errand/deviceio/linefile"
)

// Files of an identity in its state directory, readable by their owner only.
const (
	keyName      = "device.key"      // PKCS#8 PEM, Ed25519
	tokenName    = "device.token"    // what the gateway gave after pairing
	instanceName = "device.instance" // the name of this installation: it outlives its key
)

// restoreKey is what to do about a damaged key. With another key alone the installation would be turned away as an impostor.
const restoreKey = "restore it; or have the device revoked, and remove it to become a new one"

// loadKey reads the device's key, and makes one in a directory that has none. A key that cannot be read is an error
// and never replaced: with a new key it would be another device, unpaired, and its plans would wait for the old one.
func loadKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, keyName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the device's key: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM: %s", path, restoreKey)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", path, err, restoreKey)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T, want an Ed25519 key", path, parsed)
	}
	return key, nil
}

func makeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the device's key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make the device's key: %w", err)
	}
	return key, linefile.Replace(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// loadInstance reads the name of this installation, and makes one where there is none. It is no secret, and proves nothing: by it a gateway
// sees that a device which it knows comes with another key, since its key was lost, or since somebody else says to be it.
func loadInstance(dir string) (string, error) {
	path := filepath.Join(dir, instanceName)
	content, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(content)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the name of the installation: %w", err)
	}
	name := rand.Text()
	return name, linefile.Replace(path, []byte(name+"\n"))
}

// loadToken reads the stored device token; "" means none.
func loadToken(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, tokenName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the device token: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

func storeToken(dir, token string) error {
	return linefile.Replace(filepath.Join(dir, tokenName), []byte(token+"\n"))
}

func forgetToken(dir string) error {
	err := os.Remove(filepath.Join(dir, tokenName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
