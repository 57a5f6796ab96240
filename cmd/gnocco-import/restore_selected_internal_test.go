package main

import (
	"os/exec"
	"testing"

	"github.com/gnocco-db/gnocco/internal/client"
)

// A server that ends before it serves is an error, even with status 0: it was interrupted, and nothing was restored.
func TestServersThatEndEarly(t *testing.T) {
	for _, end := range []string{"exit 0", "exit 3", "kill $$"} {
		err := serveMeanwhile(exec.Command("sh", "-c", end), t.TempDir(), func(*client.Client) error {
			t.Error("it was used")
			return nil
		})
		if err == nil {
			t.Errorf("%s is no error", end)
		}
	}
	used := false
	const serves = `trap 'exit 0' TERM; echo http://127.0.0.1:1/ui/; while :; do sleep 0.1; done`
	err := serveMeanwhile(exec.Command("sh", "-c", serves),
		t.TempDir(), func(c *client.Client) error {
			used = c.URL("/x") == "http://127.0.0.1:1/x"
			return nil
		})
	if err != nil || !used {
		t.Errorf("of a server that serves: %v, used %t", err, used)
	}
}
