package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var at = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// tree returns a source of this tree, at a fixed time, and files as they would be generated.
func tree(t *testing.T) (*source, map[string][]byte) {
	t.Helper()
	s, err := open("../..")
	if err != nil {
		t.Fatal(err)
	}
	s.at = at
	common := map[string][]byte{"doc/LICENSE": []byte("l"), "doc/LICENSES-of-others": []byte("o"),
		"doc/examples/gnocco.toml": []byte("e"), "completion/bash/gnocco": []byte("b"),
		"completion/zsh/_gnocco":      []byte("z"),
		"completion/fish/gnocco.fish": []byte("f"),
		"man/gnocco.1":                page("gnocco", 1, s.version, "A database.\n\nUsage:\n  gnocco\n", at)}
	for _, dir := range []string{"../../deploy/systemd/", "../../deploy/systemd/gnocchi/"} {
		units, err := filepath.Glob(dir + "*.service")
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range units {
			content, err := os.ReadFile(unit)
			if err != nil {
				t.Fatal(err)
			}
			common["systemd/"+filepath.Base(unit)] = packagedUnit(content)
		}
	}
	return s, common
}

// files returns the names and contents of a folder's files.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		all[strings.TrimPrefix(path, dir)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The same sources give the same bytes, whenever and wherever.
func TestTwiceTheSame(t *testing.T) {
	s, common := tree(t)
	made := func() string {
		dir := t.TempDir()
		program := filepath.Join(t.TempDir(), "gnocco")
		if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := s.debian(dir, "amd64", programs{dynamic: program, client: program, importer: program, migrator: program}, common); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.debianClient(dir, "amd64", program, nil),
			s.debianBackup(dir, "amd64", program, nil)); err != nil {
			t.Fatal(err)
		}
		if err := s.debianAsGnocchi(dir, common); err != nil {
			t.Fatal(err)
		}
		if err := writeArchive(filepath.Join(dir, "x.tar.gz"), at,
			archiveFiles("x", []byte("program"), common)); err != nil {
			t.Fatal(err)
		}
		images := map[string][]file{"amd64": imageFiles([]byte("program"), common),
			"arm64": imageFiles([]byte("other"), common)}
		oci := t.TempDir()
		if err := writeImage(oci, s.version, at, images); err != nil {
			t.Fatal(err)
		}
		if err := archiveFolder(filepath.Join(dir, "oci.tar"), at, oci); err != nil {
			t.Fatal(err)
		}
		if err := checksums(dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a, b := contents(t, made()), contents(t, made())
	if len(a) != 7 {
		t.Errorf("%d files", len(a))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// The image layout is one that others read, with an image for each processor.
func TestImage(t *testing.T) {
	_, common := tree(t)
	dir := t.TempDir()
	err := writeImage(dir, "1", at, map[string][]file{"arm64": imageFiles([]byte("a"), common),
		"amd64": imageFiles([]byte("b"), common)})
	if err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 || manifest.Manifests[0].Platform.Architecture != "amd64" {
		t.Errorf("%v, %v", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	certificates := fileOf(t, image, "etc/ssl/certs/ca-certificates.crt")
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(certificates) ||
		bytes.Count(certificates, []byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("certificates of authorities: %d bytes", len(certificates))
	}
	config, err := image.ConfigFile()
	if err != nil || config.Config.User != "8041:8041" || !config.Created.Equal(at) {
		t.Errorf("%v, %v", config, err)
	}
}

// fileOf returns a file of an image of one layer.
func fileOf(t *testing.T, image v1.Image, name string) []byte {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(layers, err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.TrimPrefix(header.Name, "./") == name {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
	}
}

// dpkg reads the packages: their dependencies and replacements, and the places of programs and units.
func TestDebianPackages(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is missing")
	}
	s, common := tree(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.debian(dir, "arm64", programs{dynamic: program, client: program, importer: program, migrator: program}, common); err != nil {
		t.Fatal(err)
	}
	help := map[string][]byte{"man/gnocco-backup.8": []byte("m"), "completion/bash/gnocco-backup": []byte("b"),
		"man/gnocco-client.1": []byte("m"), "completion/bash/gnocco-client": []byte("b")}
	if err := errors.Join(s.debianClient(dir, "arm64", program, help),
		s.debianBackup(dir, "arm64", program, help)); err != nil {
		t.Fatal(err)
	}
	if err := s.debianAsGnocchi(dir, common); err != nil {
		t.Fatal(err)
	}
	f := func(name, flag string, wants ...string) {
		t.Helper()
		out, err := exec.Command("dpkg-deb", flag, filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, want := range wants {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, out)
			}
		}
	}
	f("gnocco_"+s.version+"_arm64.deb", "-f", "Architecture: arm64", "Depends: gnocco-client (= "+s.version+"), libc6")
	f("gnocco_"+s.version+"_arm64.deb", "-c", "./usr/bin/gnocco", "./usr/bin/gnocco-migrate", "./lib/systemd/system/gnocco-metricd@.service",
		"./lib/systemd/system/gnocco-mount.service", "./usr/share/man/man1/gnocco.1.gz")
	f("gnocco-client_"+s.version+"_arm64.deb", "-c", "./usr/bin/gnocco-client",
		"./usr/share/doc/gnocco-client/LICENSES-of-others.gz", "./usr/share/man/man1/gnocco-client.1.gz",
		"./usr/share/bash-completion/completions/gnocco-client")
	if out, err := exec.Command("dpkg-deb", "-f", filepath.Join(dir, "gnocco-client_"+s.version+"_arm64.deb"),
		"Depends").Output(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("gnocco-client depends on %s (%v)", out, err)
	}
	f("gnocco-backup_"+s.version+"_arm64.deb", "-f", "Architecture: arm64", "Depends: gnocco (>= "+s.version+")")
	f("gnocco-backup_"+s.version+"_arm64.deb", "-c", "./usr/bin/gnocco-backup",
		"./usr/share/doc/gnocco-backup/LICENSES-of-others.gz", "./usr/share/man/man8/gnocco-backup.8.gz",
		"./usr/share/bash-completion/completions/gnocco-backup")
	f("gnocco-as-gnocchi_"+s.version+"_all.deb", "-f", "Conflicts: gnocchi-api, gnocchi-metricd, gnocchi-statsd",
		"Depends: gnocco (>= "+s.version+")")
	f("gnocco-as-gnocchi_"+s.version+"_all.deb", "-c", "./usr/bin/gnocchi-upgrade -> gnocco-migrate",
		"./lib/systemd/system/gnocchi-api.service")
}

// A list of contents names each module once, in order.
func TestSBOM(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sbom(program, "1", at)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		BOMFormat  string
		Components []struct{ PURL string }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range document.Components {
		names = append(names, c.PURL)
	}
	if document.BOMFormat != "CycloneDX" || len(names) < 3 || !slices.IsSorted(names) ||
		len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%s of %q", document.BOMFormat, names)
	}
	if !strings.Contains(string(text), "pkg:golang/github.com/goreleaser/nfpm/v2@v2.45.0") {
		t.Error("nfpm is missing")
	}
}

func TestPages(t *testing.T) {
	help :=
		"Do this. And that.\n\nUsage:\n  x [command]\n\nExamples:\n  x now   at once\n\nRun servers:\n  api         Serve\n\nAdditional Commands:\n  two-words   Other\n\nFlags:\n  -h, --help\n.odd\n" +
			"\nAdditional help topics:\n  x limits   What is bounded\n\nUse \"x [command] --help\".\n"
	if got := subcommands(help); !slices.Equal(got, []string{"api", "limits", "two-words"}) {
		t.Errorf("subcommands are %q", got)
	}
	got := string(page("x-y", 1, "1", help, at))
	for _, want := range []string{`.TH "X\-Y" 1 2026-02-14 "gnocco 1"`, `x\-y \- Do this`, ".SH FLAGS\n",
		`  \-h, \-\-help`, "\n\\&.odd\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed([]byte(got))))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(r); err != nil || string(back) != got || !r.ModTime.IsZero() {
		t.Errorf("compressed page: %v", err)
	}
}

// The unit of the mount starts no program of the package.
var packagedStart = regexp.MustCompile(`\nExecStart=(/usr/bin/|-/bin/sh -c '.*mountpoint)`)

// A package's unit names what the package installs.
func TestPackagedUnits(t *testing.T) {
	_, common := tree(t)
	n := 0
	for name, unit := range common {
		if !strings.HasPrefix(name, "systemd/") {
			continue
		}
		n++
		text := string(unit)
		if strings.Contains(text, "/usr/local") || strings.Contains(text, "copy") ||
			!packagedStart.MatchString(text) || !strings.HasPrefix(text, "[Unit]") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if n != 7 {
		t.Errorf("%d units", n)
	}
}
