package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// encryption is by age: a public key is enough to make backups, so a server can't read those that it made.
type encryption struct {
	recipients []age.Recipient
	identities []age.Identity
}

// newEncryption reads keys. A recipient is a public key, or a file of some; identity is a file of secret keys.
func newEncryption(recipients []string, identity string) (*encryption, error) {
	e := &encryption{}
	for _, text := range recipients {
		if !strings.HasPrefix(text, "age1") {
			content, err := os.ReadFile(text)
			if err != nil {
				return nil, fmt.Errorf("recipient: %w", err)
			}
			text = string(content)
		}
		found, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("recipient: %w", err)
		}
		e.recipients = append(e.recipients, found...)
	}
	if identity == "" {
		return e, nil
	}
	file, err := os.Open(identity)
	if err != nil {
		return nil, err
	}
	e.identities, err = age.ParseIdentities(file)
	return e, errors.Join(err, file.Close())
}

func (e *encryption) Name() string { return "age" }

func (e *encryption) CanOpen() bool { return len(e.identities) > 0 }

func (e *encryption) Seal(to io.Writer) (io.WriteCloser, error) {
	return age.Encrypt(to, e.recipients...)
}

func (e *encryption) Open(from io.Reader) (io.Reader, error) {
	return age.Decrypt(from, e.identities...)
}
