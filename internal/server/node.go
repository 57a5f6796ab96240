package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Node returns the name under which this node's incoming store lies: random, made at the first start.
func (f *Folder) Node() (string, error) {
	path := filepath.Join(f.Path, "node")
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("server: %w", err)
	}
	node := strings.TrimSpace(string(content))
	if raw, err := hex.DecodeString(node); err != nil || len(raw) == 0 {
		return "", fmt.Errorf("server: %s holds %q, not the name of a node", path, node)
	}
	return node, nil
}

// ensureNode is Node, making a name at the first start.
func (f *Folder) ensureNode() (string, error) {
	node, err := f.Node()
	if !errors.Is(err, os.ErrNotExist) {
		return node, err
	}
	// Without its name, a store that is there would be left aside, with measures in it that were accepted.
	others, err := os.ReadDir(f.IncomingDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("server: %w", err)
	}
	if len(others) > 0 {
		return "", fmt.Errorf("server: the file node is missing in %s; it should hold %q", f.Path, others[0].Name())
	}
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	node = hex.EncodeToString(raw[:])
	if err := f.writeFile("node", []byte(node+"\n")); err != nil {
		return "", fmt.Errorf("server: %w", err)
	}
	return node, nil
}
