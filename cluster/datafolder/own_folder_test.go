package datafolder_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func enter(t *testing.T, path string, terms datafolder.Terms) (id string, made bool, err error) {
	t.Helper()
	terms.Coordination = datafolder.CoordinationFile
	f, c, made, err := datafolder.Enter(path, terms)
	if err != nil {
		return "", false, err
	}
	return c.ID, made, errors.Join(f.Remember(terms.State), f.Release())
}

// A folder becomes a cluster's if a process was told so, and never where this machine knows one that is not there.
func TestEnter(t *testing.T) {
	dir, state := filepath.Join(t.TempDir(), "data"), t.TempDir()
	refused := func(why string, terms datafolder.Terms) {
		t.Helper()
		_, _, err := enter(t, dir, terms)
		if !errors.Is(err, datafolder.ErrRefused) || !strings.Contains(err.Error(), why) {
			t.Errorf("%+v: %v, want %q", terms, err, why)
		}
	}
	entered := func(want string, wantMade bool, terms datafolder.Terms) (id string) {
		t.Helper()
		id, made, err := enter(t, dir, terms)
		if err != nil || made != wantMade || want != "" && id != want {
			t.Errorf("%+v: cluster %q, made %v, %v", terms, id, made, err)
		}
		return id
	}
	refused("it holds no cluster", datafolder.Terms{State: state})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused folder is made: %v", err)
	}
	id := entered("", true, datafolder.Terms{State: state, Make: true})
	if len(id) < 8 {
		t.Errorf("cluster %q", id)
	}
	entered(id, false, datafolder.Terms{State: state})
	entered(id, false, datafolder.Terms{Cluster: id})
	refused("holds the cluster "+id+", not mine", datafolder.Terms{Cluster: "mine"})

	// The mount is gone.
	fatal.If(t, os.Rename(dir, dir+".mount"))
	refused("held "+id+" when", datafolder.Terms{State: state, Make: true})
	if err := os.Mkdir(dir, 0o750); err != nil { // a mount point
		t.Fatal(err)
	}
	refused("held "+id+" when", datafolder.Terms{State: state, Make: true})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("below the mount point there are %v (%v)", entries, err)
	}
	// Another cluster's disk is mounted.
	entered("other", true, datafolder.Terms{Make: true, Cluster: "other"})
	refused("holds the cluster other, not "+id, datafolder.Terms{State: state})
	c, made, err := datafolder.Init(dir, datafolder.Terms{State: state, Coordination: datafolder.CoordinationFile})
	if err != nil || made || c.ID != "other" {
		t.Errorf("init: %+v, made %v, %v", c, made, err)
	}
	entered("other", false, datafolder.Terms{State: state})
}

// A state folder within the data folder would go with it.
func TestStateWithinData(t *testing.T) {
	dir := t.TempDir()
	terms := datafolder.Terms{State: filepath.Join(dir, "state"), Make: true}
	if _, _, err := enter(t, dir, terms); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(terms.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("state within the data: %v", err)
	}
}

// Check finds another folder, or none, in the place of the one that was entered, and bears that cluster.json is written
// anew.
func TestCheck(t *testing.T) {
	changes := map[string]func(dir string) error{
		"is gone": func(dir string) error { return os.Rename(dir, dir+".mount") },
		"is empty": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".mount"), os.Mkdir(dir, 0o750))
		},
		"is a copy": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".mount"), os.CopyFS(dir, os.DirFS(dir+".mount")))
		},
		"has no cluster.json": func(dir string) error { return os.Remove(filepath.Join(dir, "cluster.json")) },
		"is another cluster": func(dir string) error {
			return errors.Join(os.WriteFile(dir+".new", []byte(`{"format":3,"id":"b","sacks":4}`), 0o640),
				os.Rename(dir+".new", filepath.Join(dir, "cluster.json")))
		},
		"": func(dir string) error {
			return errors.Join(os.WriteFile(dir+".new", []byte(`{"format":3,"id":"a","sacks":4}`), 0o640),
				os.Rename(dir+".new", filepath.Join(dir, "cluster.json")))
		},
	}
	for name, change := range changes {
		dir := filepath.Join(t.TempDir(), "data")
		f, _, _, err := datafolder.Enter(dir, datafolder.Terms{Make: true, Cluster: "a", Sacks: 4,
			Coordination: datafolder.CoordinationFile})
		fatal.If(t, err)
		if err := errors.Join(f.Check(), f.Why(nil)); err != nil {
			t.Errorf("unchanged: %v", err)
		}
		fatal.If(t, change(dir))
		if err := f.Check(); (name != "") != (errors.Is(err, datafolder.ErrRefused) && !datafolder.IsDeadMount(err)) {
			t.Errorf("it %s: %v", name, err)
		}
		if err := f.Why(syscall.EIO); errors.Is(err, datafolder.ErrRefused) != (name != "") {
			t.Errorf("it %s: why %v", name, err)
		}
		fatal.If(t, f.Release())
	}
}
