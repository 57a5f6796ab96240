package simulation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

var programFile = flag.String("sim.program", "", "file for the program that runs a seed, to keep it")

// plantedVariable of the environment names the bug that a program has.
const plantedVariable = "GNOCCO_PLANTED"

// edit replaces a text wherever it stands in a file, for one build.
type edit struct{ file, old, new string }

// runtimeEdits are of the Go runtime. A bubble's time goes on while a goroutine waits for a mutex, as others do that
// hold it and sleep. Its goroutines run in one order, and draw the same random numbers, each time.
var runtimeEdits = []edit{
	{"runtime/runtime2.go", "waitReasonSynctestSelect:        true,\n", `waitReasonSynctestSelect:        true,
	waitReasonSyncMutexLock: true, waitReasonSyncRWMutexRLock: true, waitReasonSyncRWMutexLock: true,
`},
	{"runtime/proc.go", "const forcePreemptNS = 10 * 1000 * 1000 // 10ms", "const forcePreemptNS = 1 << 62"},
	{"runtime/proc.go", "if retake(now) != 0 {", "if false {"},
	{"runtime/proc.go", "if pp.schedtick%61 == 0 && !sched.runq.empty() {", "if false {"},
	{"internal/sync/mutex.go", "starvationThresholdNs = 1e6", "starvationThresholdNs = 1e18"},
	{"runtime/rand.go", "	globalRand.state.Init(*seed)\n", `	clear(seed[:])
	seed[0] = 1
	globalRand.state.Init(*seed)
`},
	{"runtime/rand.go", "func rand() uint64 {\n", `func rand() uint64 {
	if gp := getg(); gp.bubble != nil {
		return uint64(bubbleRand())<<32 | uint64(bubbleRand())
	}
`},
	{"runtime/select.go", "j := cheaprandn(uint32(norder + 1))", `j := uint32(0)
		if getg().bubble != nil {
			j = bubbleRand() % uint32(norder+1)
		} else {
			j = cheaprandn(uint32(norder + 1))
		}`},
	// A cache that grows now and then moves later objects, and the order of a map of pointers depends on addresses.
	{"runtime/iface.go", "if cheaprand()&1023 != 0 {", "if true {"},
	{"net/http/server.go", "for c := range s.activeConn {", "for _, c := range s.sortedConns() {"},
	{"net/http/server.go", "func (s *Server) closeIdleConns() bool {\n", `func (s *Server) sortedConns() []*conn {
	return slices.SortedFunc(maps.Keys(s.activeConn), func(a, b *conn) int {
		return strings.Compare(a.rwc.RemoteAddr().String(), b.rwc.RemoteAddr().String())
	})
}

func (s *Server) closeIdleConns() bool {
`},
	{"runtime/time.go", "t.rand = cheaprand()", "t.rand = bubbleRand()"},
	{"runtime/rand.go", "// mrandinit initializes", `var bubbleState uint64

//go:nosplit
func bubbleRand() uint32 {
	bubbleState += 0xa0761d6478bd642f
	hi, lo := math.Mul64(bubbleState, bubbleState^0xe7037ed1a0b428db)
	return uint32(hi ^ lo)
}

// mrandinit initializes`},
}

// productEdits take what differs from run to run out of the figures that processes show each other. Each machine has
// its own system time. The lock of the data folder is a real file's, which a dead process of a bubble would keep. A
// command whose store fails ends alone. There is no etcd, so that its client is not compiled anew with the runtime.
var productEdits = []edit{
	{"cluster/coordinator_choice.go", `	"github.com/gnocco-db/gnocco/storage/claim/etcd"
`, ""},
	{"cluster/coordinator_choice.go",
		"return etcd.New(folder.Path, etcd.Options{Options: o.claimOptions(), Settings: access})",
		"return nil, fmt.Errorf(\"%s: %w\", access.Prefix, errors.ErrUnsupported)"},
	{"storage/engine/options.go", "o.Fail = ExitOnFailure(o.Logger, os.Exit)",
		`exit := os.Exit
		if m, ok := o.FS.(interface{ Exit(status int) }); ok {
			exit = m.Exit
		}
		o.Fail = ExitOnFailure(o.Logger, exit)`},
	{"cluster/clocks.go", "time.Now().UnixNano()-int64(boot.Now())",
		"boot.(interface{ WallTime() time.Time }).WallTime().UnixNano()-int64(boot.Now())"},
	{"cluster/datafolder/folder.go", "	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK,",
		"	if true {\n		return nil\n	}\n	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK,"},
	{"server/figures.go", "func residentBytes() int64 {\n", `func residentBytes() int64 {
	if true {
		return 64 << 20
	}
`},
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

// build makes the program of TestSeed, with edits of the product beside those of the runtime.
func build(t *testing.T, edits ...edit) string {
	t.Helper()
	return compile(t, *programFile, "./tests/simulation", runtimeEdits, append(productEdits, edits...))
}

// compile makes the test program of a package, with edits of Go's runtime and of the product. An edit of the product
// may ask the variable planted, which is that of the environment.
func compile(t *testing.T, program, of string, ofRuntime, ofProduct []edit) string {
	t.Helper()
	root, source := output(t, "go", "list", "-m", "-f", "{{.Dir}}"), filepath.Join(output(t, "go", "env", "GOROOT"), "src")
	dir := t.TempDir()
	replaced := make(map[string]string)
	apply := func(below string, edits []edit) {
		for _, e := range edits {
			name := filepath.Join(below, e.file)
			from := name
			if r := replaced[name]; r != "" {
				from = r
			}
			content, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(content), e.old) {
				t.Fatalf("%s does not have %q", e.file, e.old)
			}
			to := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
			if err := os.WriteFile(to, []byte(strings.ReplaceAll(string(content), e.old, e.new)), 0o600); err != nil {
				t.Fatal(err)
			}
			replaced[name] = to
		}
	}
	apply(source, ofRuntime)
	apply(root, ofProduct)
	for _, e := range ofProduct {
		if folder := path.Dir(e.file); strings.Contains(e.new, "planted == ") {
			to := filepath.Join(dir, strings.ReplaceAll(folder, "/", "_")+"_planted.go")
			content := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar planted = os.Getenv(%q)\n", path.Base(folder),
				plantedVariable)
			if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			replaced[filepath.Join(root, folder, "planted.go")] = to
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	if program == "" {
		program = filepath.Join(dir, path.Base(of)+".test")
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w", "-overlay",
		filepath.Join(dir, "overlay.json"), "-o", program, of)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
