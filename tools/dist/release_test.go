package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release is signed, and apt finds the package in its repository and trusts it.
func TestRelease(t *testing.T) {
	for _, program := range []string{"gpg", "apt-ftparchive", "apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, " is missing")
		}
	}
	s, common := tree(t)
	work := t.TempDir()
	dist, program := filepath.Join(work, "dist"), filepath.Join(work, "program")
	home, err := os.MkdirTemp("", "gpg") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("bash", "-ec", script)
		cmd.Env = append(os.Environ(), "GNUPGHOME="+home, "WORK="+work, "DIST="+dist)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	sh(`mkdir "$DIST"`)
	if err := s.debian(dist, "amd64", programs{dynamic: program, client: program, importer: program, migrator: program}, common); err != nil {
		t.Fatal(err)
	}
	if err := checksums(dist); err != nil {
		t.Fatal(err)
	}
	sh(`gpg --batch --quiet --passphrase '' --quick-gen-key release@gnocco.test default default never
		../release.sh release@gnocco.test "$DIST"
		gpg --verify "$DIST/SHA256SUMS.asc" "$DIST/SHA256SUMS"`)
	out := sh(`cd "$WORK"; mkdir -p state/lists/partial cache/archives/partial empty
		echo "deb [signed-by=$DIST/apt/gnocco-archive-keyring.gpg arch=amd64] file:$DIST/apt stable main" >sources.list
		apt="-o Dir::Etc::SourceList=$WORK/sources.list -o Dir::Etc::SourceParts=$WORK/empty -o Dir::State=$WORK/state
			-o Dir::Cache=$WORK/cache -o Dir::State::status=/dev/null -o APT::Architecture=amd64 -o APT::Architectures=amd64
			-o APT::Sandbox::User=root"
		touch status; apt-get $apt update; apt-cache $apt policy gnocco`)
	if !strings.Contains(out, "Candidate: "+s.version) || strings.Contains(out, "W:") {
		t.Errorf("apt: %s", out)
	}
	sh(`for deb in "$DIST"/*.deb; do echo x >>"$deb"; done; ! ../release.sh release@gnocco.test "$DIST"`)
}
