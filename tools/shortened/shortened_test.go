package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestShortened(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a/a.go":           `package a; func Short() {}`, // not of tests
		"a/direct_test.go": `package a; import "testing"; func TestDirect(t *testing.T) { if testing.Short() { t.Skip() } }`,
		"a/other_test.go": `package a_test
			import ("testing"; "github.com/gnocco-db/gnocco/tests/help")
			var cases = []func(*testing.T){one}
			func one(t *testing.T) { if testing.Short() { t.Skip() } }
			func (r run) rounds() int { if testing.Short() { return 1 }; return 9 }
			func TestByVariable(t *testing.T) { for _, c := range cases { c(t) } }
			func TestByMethod(t *testing.T) { run{}.rounds() }
			func TestByHelp(t *testing.T) { help.Open(t) }
			func FuzzByHelp(f *testing.F) { help.Open(f) }
			func TestAlike(t *testing.T) { help.Close(t) }
			func BenchmarkOne(b *testing.B) { one(nil) }`,
		"tests/help/help.go": `package help; func Open(t testing.TB) { open() }; func open() { testing.Short() }; func Close(testing.TB) {}`,
		"b/b_test.go":        `package b; func TestElsewhere(t *testing.T) { open() }; func open() {}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := read([]string{"./a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"FuzzByHelp", "TestByHelp", "TestByMethod", "TestByVariable", "TestDirect"}
	if got := g.tests(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
