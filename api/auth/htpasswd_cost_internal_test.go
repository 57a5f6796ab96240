package auth

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A wrong password takes as long for every name: users of cheap and of costly hashes, and strangers.
func TestTimeTellsNoUsers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	var text []byte
	for name, cost := range map[string]int{"cheap": 4, "middle": 7, "costly": 9} {
		hash, err := bcrypt.GenerateFromPassword([]byte("right"), cost)
		fatal.If(t, err)
		text = append(text, name+":"+string(hash)+"\n"...)
	}
	fatal.If(t, os.WriteFile(file, text, 0o600))
	h, err := NewHtpasswd(HtpasswdOptions{File: file})
	fatal.If(t, err)
	fastest := make(map[string]time.Duration) // of several: others use the machine
	names := []string{"cheap", "middle", "costly", "stranger"}
	for range 15 {
		for _, name := range names {
			user, _ := h.user(name)
			begun := time.Now()
			if err := h.compare(t.Context(), user.hash, "wrong"); err == nil {
				t.Fatal("a wrong password is right")
			}
			if took := time.Since(begun); fastest[name] == 0 || took < fastest[name] {
				fastest[name] = took
			}
		}
	}
	times := make([]time.Duration, 0, len(names))
	for _, name := range names {
		times = append(times, fastest[name])
	}
	if slices.Max(times) > slices.Min(times)*3/2 { // 32 times without the law
		t.Errorf("%v", fastest)
	}
	r, err := http.NewRequest(http.MethodGet, "/", http.NoBody)
	fatal.If(t, err)
	r.SetBasicAuth("cheap", "right")
	if _, err := h.Authenticate(r); err != nil {
		t.Error(err)
	}
}
