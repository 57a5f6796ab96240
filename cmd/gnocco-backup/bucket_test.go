package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/index"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is one of S3 with a bucket "backups". Its requests pass through before, which may answer instead.
type server struct {
	*s3mem.Backend
	fake   http.Handler
	before func(w http.ResponseWriter, r *http.Request) (answered bool)
}

// serve starts a server, with TLS by a CA that only AWS_CA_BUNDLE names, and settings as AWS's tools read them.
func serve(t *testing.T) *server {
	s := &server{Backend: s3mem.New()}
	must(t, s.CreateBucket("backups"))
	s.fake = gofakes3.New(s.Backend).Server()
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.before == nil || !s.before(w, r) {
			s.fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	home := t.TempDir()
	ca := filepath.Join(home, "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600))
	must(t, os.Mkdir(filepath.Join(home, ".aws"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".aws", "config"), fmt.Appendf(nil,
		"[profile night]\nregion = eu-central-1\nendpoint_url = %s\n", front.URL), 0o600))
	must(t, os.WriteFile(filepath.Join(home, ".aws", "credentials"),
		[]byte("[night]\naws_access_key_id = user\naws_secret_access_key = secret\n"), 0o600))
	for name, value := range map[string]string{"AWS_PROFILE": "night", "AWS_CA_BUNDLE": ca, "HOME": home,
		"AWS_CONFIG_FILE": filepath.Join(home, ".aws", "config"), "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, ".aws", "credentials")} {
		t.Setenv(name, value)
	}
	return s
}

// names returns the objects of the bucket whose names have a text.
func (s *server) names(t *testing.T, text string) (found []string) {
	t.Helper()
	list, err := s.ListBucket("backups", nil, gofakes3.ListBucketPage{})
	must(t, err)
	for _, object := range list.Contents {
		if strings.Contains(object.Key, text) {
			found = append(found, object.Key)
		}
	}
	return found
}

// dataFolder makes a data folder with an index and a sack.
func dataFolder(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "data")
	_, _, err := datafolder.Init(path, datafolder.Terms{Sacks: 1, Coordination: datafolder.CoordinationFile})
	must(t, err)
	store, err := index.Open(filepath.Join(path, "index", "e1"), index.Options{})
	must(t, err)
	must(t, store.Close())
	fill(t, path, 0)
	return path
}

// fill writes so much into the sack that it is a table, and a mark.
func fill(t *testing.T, data string, from uint64) {
	t.Helper()
	sack, err := archive.Open(filepath.Join(data, datafolder.SackName(0), "e1"), archive.Options{Sack: archive.Sack{Of: 1}})
	must(t, err)
	c := sack.NewCheckpoint()
	for i := range uint64(200) {
		c.Quarantine("source", from+i, bytes.Repeat([]byte("readable"), 1<<7))
	}
	c.SetMark("source", from+200)
	must(t, c.Commit())
	must(t, sack.Close())
}

// run runs a command of the program.
func run(args ...string) (string, error) {
	var out bytes.Buffer
	program := newProgram()
	program.SetArgs(args)
	program.SetOut(&out)
	err := program.Execute()
	return out.String(), err
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// quick opens a bucket whose locks are given up soon.
func quick(t *testing.T) *bucket {
	t.Helper()
	b, err := openBucket(t.Context(), "s3://backups/site/a")
	must(t, err)
	b.renewEvery, b.stale = 200*time.Millisecond, 1500*time.Millisecond
	return b
}

// Backups go to a bucket, and come back from it. Objects of an earlier one are not sent again.
func TestBackupsInABucket(t *testing.T) {
	s, data := serve(t), dataFolder(t)
	const to = "s3://backups/site/a"
	if _, err := run("restore", "--from", to, "--list"); err == nil || !strings.Contains(err.Error(), "no backups") {
		t.Errorf("an empty prefix: %v", err)
	}
	mustRun(t, "backup", "--data", data, "--to", to)
	puts := 0
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/objects/") {
			puts++
		}
		return false
	}
	if out := mustRun(t, "backup", "--data", data, "--to", to); !strings.Contains(out, "0.0 MiB of it new") || puts != 0 {
		t.Errorf("%d objects of an unchanged folder are sent again: %s", puts, out)
	}
	fill(t, data, 1000)
	out := mustRun(t, "backup", "--data", data, "--to", to, "--keep", "1")
	if !strings.HasSuffix(out, "2 earlier backups dropped\n") || puts == 0 {
		t.Errorf("--keep 1 after %d objects: %s", puts, out)
	}
	if found := s.names(t, "site/a/backups/"); len(found) != 1 {
		t.Errorf("manifests %v", found)
	}
	if found := s.names(t, "lock"); len(found) != 0 {
		t.Errorf("the lock is left: %v", found)
	}
	mustRun(t, "restore", "--from", to, "--verify")
	restored := filepath.Join(t.TempDir(), "restored")
	mustRun(t, "restore", "--from", to, "--data", restored, "--state", t.TempDir())
	checkRestored(t, restored, 1200)

	victim := s.names(t, "/objects/")[0]
	_, err := s.PutObject("backups", victim, map[string]string{}, strings.NewReader("damaged"), 7, nil)
	must(t, err)
	if _, err := run("restore", "--from", to, "--verify"); err == nil || !strings.Contains(err.Error(), "not what was written") {
		t.Errorf("damage: %v", err)
	}
}

// checkRestored looks for the last mark that fill wrote.
func checkRestored(t *testing.T, data string, want uint64) {
	t.Helper()
	sack, err := archive.Open(filepath.Join(data, datafolder.SackName(0), "e1"), archive.Options{ReadOnly: true,
		Sack: archive.Sack{Of: 1}})
	must(t, err)
	defer sack.Close()
	if found, err := sack.Mark("source"); err != nil || found != want {
		t.Errorf("mark %d, %v, and not %d", found, err, want)
	}
}

// With a recipient no object can be read without the identity, and a backup needs none.
func TestEncryption(t *testing.T) {
	s, data := serve(t), dataFolder(t)
	const to = "s3://backups/sealed"
	key, err := age.GenerateX25519Identity()
	must(t, err)
	other, err := age.GenerateX25519Identity()
	must(t, err)
	dir := t.TempDir()
	for name, key := range map[string]*age.X25519Identity{"key": key, "other": other} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(key.String()+"\n"), 0o600))
	}
	for range 2 {
		mustRun(t, "backup", "--data", data, "--to", to, "--recipient", key.Recipient().String())
	}
	for _, name := range s.names(t, "/objects/") {
		object, err := s.GetObject("backups", name, nil)
		must(t, err)
		head := make([]byte, 21)
		if _, err := object.Contents.Read(head); string(head) != "age-encryption.org/v1" {
			t.Errorf("%s begins with %q, %v", name, head, err)
		}
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
	refused("another encryption", "backup", "--data", data, "--to", to)
	refused("--identity", "restore", "--from", to, "--verify")
	refused("did not match any", "restore", "--from", to, "--verify", "--identity", filepath.Join(dir, "other"))
	mustRun(t, "restore", "--from", to, "--verify", "--identity", filepath.Join(dir, "key"))
	restored := filepath.Join(t.TempDir(), "restored")
	mustRun(t, "restore", "--from", to, "--data", restored, "--state", t.TempDir(), "--identity", filepath.Join(dir, "key"))
	checkRestored(t, restored, 200)
}

// A backup dies at every fifth of its requests in turn, with or without the server having seen it. The backups from
// before stay whole, and the next one is complete.
func TestKilledBackups(t *testing.T) {
	s, data := serve(t), dataFolder(t)
	take := func(ctx context.Context) error {
		_, err := backup.Take(ctx, backup.Options{Data: data, To: quick(t), Keep: backup.Keep{}})
		return err
	}
	must(t, take(t.Context()))
	const step = 5 // each round writes more tables: smaller steps never come to the end
	for request := int64(1); ; request += step {
		fill(t, data, uint64(request)*1000)
		ctx, kill := context.WithCancel(t.Context())
		var at atomic.Int64
		var dead atomic.Bool
		s.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if dead.Load() || at.Add(1) == request {
				if !dead.Swap(true) && request%2 == 0 {
					s.fake.ServeHTTP(httptest.NewRecorder(), r)
				}
				kill()
				panic(http.ErrAbortHandler)
			}
			return false
		}
		err := take(ctx)
		kill()
		s.before = nil
		if err == nil {
			break
		}
		if !dead.Load() {
			t.Fatal(err)
		}
		mustRun(t, "restore", "--from", "s3://backups/site/a", "--verify")
		if request%3 == 0 {
			must(t, take(t.Context()))
			mustRun(t, "restore", "--from", "s3://backups/site/a", "--verify")
		}
	}
}

// One backup at a time. A lock without renewals goes to another process, and the earlier holder commits no more.
func TestLock(t *testing.T) {
	s := serve(t)
	first, second := quick(t), quick(t)
	_, release, err := first.Lock(t.Context())
	must(t, err)
	if _, _, err := second.Lock(t.Context()); err == nil || !strings.Contains(err.Error(), "is under way") {
		t.Errorf("a second writer: %v", err)
	}
	must(t, release())
	held, _, err := first.Lock(t.Context())
	must(t, err)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool { // cut off
		http.Error(w, "", http.StatusForbidden)
		return true
	}
	select {
	case <-held.Done():
	case <-time.After(time.Minute):
		t.Fatal("whoever is cut off goes on")
	}
	s.before = nil
	_, release, err = second.Lock(t.Context())
	must(t, err)
	if err := first.Commit(t.Context(), "backups/late.json", []byte("{}")); !errors.Is(err, errLost) {
		t.Errorf("a late commit: %v", err)
	}
	if found := s.names(t, "late"); len(found) != 0 {
		t.Errorf("%v is there", found)
	}
	must(t, second.Commit(t.Context(), "backups/once.json", []byte("{}")))
	if err := second.Commit(t.Context(), "backups/once.json", []byte("{1}")); status(err) != http.StatusPreconditionFailed {
		t.Errorf("a manifest is written over: %v", err)
	}
	must(t, release())
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("If-None-Match")
		return false
	}
	if _, _, err := first.Lock(t.Context()); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("a server that ignores conditions: %v", err)
	}
}
