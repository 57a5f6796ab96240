// Package check holds the files below deploy/ to the schemas of those who read them: a module of its own, so that the
// product needs nothing of it.
package check

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// binaries is the folder of the programs that TestMain built.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gnocco-deploy-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "./cmd/gnocco", "./cmd/metricd")
	build.Dir, build.Stderr = "../..", os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// requireCommand fails unless the program knows all that a command line says.
func requireCommand(t *testing.T, program string, args ...string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(binaries, program), append(args, "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", program, args, err, out)
	}
}

// The compose file loads as docker compose loads it.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"init", "api", "metricd"} {
		service, err := project.GetService(name)
		if err != nil {
			t.Fatal(err)
		}
		requireCommand(t, "gnocco", service.Command...)
		if _, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
	}
}

// The file of users makes the one that units have, with the number that several machines need to agree on.
func TestSysusers(t *testing.T) {
	program, err := exec.LookPath("systemd-sysusers")
	if err != nil {
		t.Skip("systemd-sysusers is missing")
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("../systemd/gnocco.sysusers")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "--root="+root, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	passwd, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if want := "gnocco:x:8041:8041:time-series database:/var/lib/gnocco:"; err != nil ||
		!strings.HasPrefix(string(passwd), want) {
		t.Errorf("%q, want %q (%v)", passwd, want, err)
	}
}

// Units are what systemd takes them for, and start commands that there are.
func TestSystemd(t *testing.T) {
	units, err := filepath.Glob("../systemd/*.service")
	isMount := func(path string) bool { return filepath.Base(path) == mountUnit }
	programs := slices.DeleteFunc(slices.Clone(units), isMount)
	if err != nil || len(programs) != 3 {
		t.Fatalf("%d units (%v)", len(programs), err)
	}
	requireHardened(t, programs)
	for _, path := range programs {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(string(content)) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=/usr/local/bin/"); ok {
				fields := strings.Fields(command)
				requireCommand(t, fields[0], fields[1:]...)
				if clustered := strings.Contains(command, "/srv/"); clustered != strings.Contains(command, " --node %H-") {
					t.Errorf("%s: %s", path, command)
				}
				found = true
			}
		}
		if !found {
			t.Errorf("%s starts nothing", path)
		}
	}
	t.Run("verify", func(t *testing.T) {
		program, err := exec.LookPath("systemd-analyze")
		if err != nil {
			t.Skip("systemd-analyze is missing")
		}
		dir := t.TempDir()
		var names []string
		others, err := filepath.Glob("../systemd/gnocchi/*.service")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(slices.Clone(units), others...) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(string(content), "/usr/local/bin", binaries) // programs must be there
			for _, of := range others {
				name := strings.TrimSuffix(filepath.Base(of), ".service") // another name of the program
				text = strings.ReplaceAll(text, "ExecStart=/usr/bin/"+name,
					"ExecStart="+filepath.Join(binaries, "gnocco"))
			}
			name := filepath.Join(dir, strings.ReplaceAll(filepath.Base(path), "@", "@1"))
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		out, err := exec.Command(program, append([]string{"verify", "--man=no", "--recursive-errors=no"},
			names...)...).CombinedOutput()
		if err != nil || strings.Contains(string(out), "Unknown") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// The timer starts a service whose command there is.
func TestBackupTimer(t *testing.T) {
	const folder = "../systemd/backup/gnocco-backup."
	service, err := os.ReadFile(folder + "service")
	if err != nil {
		t.Fatal(err)
	}
	timer, err := os.ReadFile(folder + "timer")
	if err != nil {
		t.Fatal(err)
	}
	_, command, ok := strings.Cut(string(service), "\nExecStart=/usr/local/bin/")
	if command, _, _ = strings.Cut(command, "\n"); !ok {
		t.Fatal("the service starts nothing")
	}
	fields := strings.Fields(command)
	requireCommand(t, fields[0], fields[1:]...)
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"gnocco-backup.timer": string(timer),
		"gnocco-backup.service": strings.ReplaceAll(string(service), "/usr/local/bin", binaries)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(program, "verify", "--man=no", "--recursive-errors=no",
		filepath.Join(dir, "gnocco-backup.timer"), filepath.Join(dir, "gnocco-backup.service")).CombinedOutput()
	if err != nil || strings.Contains(string(out), "Unknown") {
		t.Errorf("%v\n%s", err, out)
	}
}

// requireHardened requires the same restrictions of all units, those of Gnocchi's names included, and enough of them.
func requireHardened(t *testing.T, units []string) {
	t.Helper()
	others, err := filepath.Glob("../systemd/gnocchi/*.service")
	if err != nil || len(others) != 3 {
		t.Fatalf("%d units of Gnocchi's names (%v)", len(others), err)
	}
	program, missing := exec.LookPath("systemd-analyze")
	dir, first := t.TempDir(), ""
	for _, path := range append(slices.Clone(units), others...) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(content), "LimitNOFILE=")
		list, _, _ = strings.Cut(list, "[Install]")
		if first == "" {
			first = list
		}
		if list == "" || list != first {
			t.Errorf("%s has other restrictions", path)
		}
		if missing != nil {
			continue
		}
		name := filepath.Join(dir, strings.ReplaceAll(filepath.Base(path), "@", "@1"))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		// The threshold is the exposure times ten.
		if out, err := exec.Command(program, "security", "--offline=true", "--threshold=20", "--no-pager",
			name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

// Each instruction of the Dockerfile exists, and so does each file that it copies from the tree.
func TestDockerfile(t *testing.T) {
	content, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages {
		for _, command := range stage.Commands {
			switch c := command.(type) {
			case *instructions.CopyCommand:
				for _, source := range c.SourcePaths {
					if _, err := os.Stat(filepath.Join("../..", source)); err != nil && c.From == "" {
						t.Error(err)
					}
				}
			case *instructions.CmdCommand:
				requireCommand(t, "gnocco", c.CmdLine...)
			}
		}
	}
	if len(stages) != 2 {
		t.Errorf("%d stages", len(stages))
	}
}
