package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// authorities returns Mozilla's certificates of authorities, as Go's module of them has them: the machine that builds
// has no say in it. Those that are trusted within bounds only are left out, since a file of certificates cannot tell
// the bounds.
func authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer never fails
		}
	}
	return text.Bytes()
}
