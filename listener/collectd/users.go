package collectd

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Users are the names and passwords of senders.
type Users struct{ passwords map[string]string }

// ReadUsers reads a file of lines "USER: PASSWORD", collectd's AuthFile.
func ReadUsers(path string) (*Users, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("collectd: %w", err)
	}
	defer file.Close()
	u := &Users{map[string]string{}}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("collectd: %s: line %d is not USER: PASSWORD", path, n)
		}
		u.passwords[strings.TrimSpace(name)] = strings.TrimSpace(password)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("collectd: read %s: %w", path, err)
	}
	return u, nil
}

var errDamaged = errors.New("the part is damaged")

func (u *Users) password(name []byte) (string, error) {
	if u == nil {
		return "", errors.New("there is no file of users")
	}
	password, ok := u.passwords[string(name)]
	if !ok {
		return "", fmt.Errorf("user %.100q is unknown", name)
	}
	return password, nil
}

// verify checks a signature: the HMAC of the user's name and all parts behind.
func (u *Users) verify(payload, rest []byte) error {
	if len(payload) <= sha256.Size {
		return errDamaged
	}
	name := payload[sha256.Size:]
	password, err := u.password(name)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write(name)
	mac.Write(rest)
	if !hmac.Equal(mac.Sum(nil), payload[:sha256.Size]) {
		return fmt.Errorf("the signature of user %.100q is wrong", name)
	}
	return nil
}

// decrypt returns the parts of an encrypted one: the length of the user's name, the name, the initialization vector,
// and encrypted a SHA-1 sum and the parts.
func (u *Users) decrypt(payload []byte) ([]byte, error) {
	if len(payload) < 2 {
		return nil, errDamaged
	}
	length, rest := int(binary.BigEndian.Uint16(payload)), payload[2:]
	if len(rest) < length+aes.BlockSize+sha1.Size {
		return nil, errDamaged
	}
	name, vector, hidden := rest[:length], rest[length:length+aes.BlockSize], rest[length+aes.BlockSize:]
	password, err := u.password(name)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte(password))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(hidden))
	outputFeedback(block, vector, plain, hidden)
	sum := sha1.Sum(plain[sha1.Size:])
	if subtle.ConstantTimeCompare(sum[:], plain[:sha1.Size]) != 1 {
		return nil, fmt.Errorf("the password of user %.100q is wrong, or the part is damaged", name)
	}
	return plain[sha1.Size:], nil
}

// outputFeedback decrypts by OFB, which crypto/cipher marks as deprecated.
func outputFeedback(block cipher.Block, vector, dst, src []byte) {
	stream := append([]byte(nil), vector...)
	for len(src) > 0 {
		block.Encrypt(stream, stream)
		n := subtle.XORBytes(dst, src, stream)
		dst, src = dst[n:], src[n:]
	}
}
