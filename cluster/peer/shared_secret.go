package peer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// keyHeader differs from the headers that users authenticate by: theirs are passed on beside it.
const keyHeader = "Gnocco-Peer-Key"

// keyBytes is the length of the secret.
const keyBytes = 32

// Key is the secret that the processes of a cluster share, as text.
type Key string

// LoadKey reads the key of a data folder, or makes one.
func LoadKey(folder string) (Key, error) {
	path := filepath.Join(folder, "key")
	for {
		content, err := os.ReadFile(path)
		if err == nil {
			return parseKey(path, content)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("peer: %w", err)
		}
		if err := makeKey(folder, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("peer: %w", err)
		}
	}
}

func parseKey(path string, content []byte) (Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("peer: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("peer: %s may be read by others than its owner; it should have mode 0600", path)
	}
	key := strings.TrimSpace(string(content))
	if raw, err := hex.DecodeString(key); err != nil || len(raw) != keyBytes {
		return "", fmt.Errorf("peer: %s holds no key", path)
	}
	return Key(key), nil
}

// makeKey makes a key, unless another process does so first: then the error is fs.ErrExist.
func makeKey(folder, path string) (err error) {
	var raw [keyBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	file, err := os.CreateTemp(folder, "key.new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = fmt.Fprintln(file, hex.EncodeToString(raw[:]))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}

// Derive returns a secret of 32 bytes for another purpose, from which the key cannot be computed.
func (k Key) Derive(purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(k))
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

func (k Key) sign(r *http.Request) { r.Header.Set(keyHeader, string(k)) }

// signed reports whether a request carries the key. Its time does not depend on how much of the key is right.
func (k Key) signed(r *http.Request) bool {
	given, want := sha256.Sum256([]byte(r.Header.Get(keyHeader))), sha256.Sum256([]byte(k))
	return k != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
