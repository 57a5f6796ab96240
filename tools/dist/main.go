package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	out := flag.String("out", "../../dist", "folder to make")
	arches := flag.String("arch", "amd64,arm64", "processors, separated by commas")
	flag.Parse()
	if err := run(*out, strings.Split(*arches, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// source is the tree that is packed.
type source struct {
	root    string
	version string
	at      time.Time // of the commit
}

func open(root string) (*source, error) {
	commit := exec.Command("git", "log", "-1", "--format=%ct")
	commit.Dir = root
	text, err := commit.Output()
	if err != nil {
		return nil, fmt.Errorf("the commit's time: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return nil, err
	}
	s := &source{root: root, at: time.Unix(seconds, 0).UTC()}
	content, err := s.read("internal/version/version.go")
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(content), `const Number = "`)
	s.version, _, _ = strings.Cut(rest, `"`)
	if s.version == "" {
		return nil, fmt.Errorf("internal/version says no version")
	}
	return s, nil
}

func (s *source) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
}

// build compiles the program of a folder; static: without CUDA, and so without the C library's loader.
func (s *source) build(folder, out, arch string, static bool) error {
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}
	if static {
		args = append(args, "-tags=nogpu")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir, cmd.Stderr = filepath.Join(s.root, folder), os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=",
		"GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", arch, err)
	}
	return nil
}

// programs are the paths of the programs for a processor.
type programs struct{ static, dynamic, client, importer, migrator, backup string }

// programs builds for a processor, below a folder.
func (s *source) programs(dir, arch string) (p programs, err error) {
	dir = filepath.Join(dir, arch)
	static := filepath.Join(dir, "static") // gnocco finds beside itself what it becomes
	p = programs{static: filepath.Join(static, "gnocco"), dynamic: filepath.Join(dir, "gnocco"),
		client: filepath.Join(static, "gnocco-client"), importer: filepath.Join(static, "gnocco-import"),
		migrator: filepath.Join(static, "gnocco-migrate"), backup: filepath.Join(dir, "gnocco-backup")}
	return p, errors.Join(s.build("cmd/gnocco", p.static, arch, true), s.build("cmd/gnocco", p.dynamic, arch, false),
		s.build("cmd/gnocco-client", p.client, arch, true), s.build("cmd/gnocco-import", p.importer, arch, true),
		s.build("cmd/gnocco-migrate", p.migrator, arch, true),
		s.build("cmd/gnocco-backup", p.backup, arch, true))
}

// shared holds the files that packages of all processors have: pages, completions, units; by their paths.
type shared struct{ common, client, backup map[string][]byte }

// shared asks programs that run here for pages and completions.
func (s *source) shared(native programs) (shared, error) {
	common, err := s.commonFiles(native.static, native.migrator)
	if err != nil {
		return shared{}, err
	}
	client, backup := make(map[string][]byte), make(map[string][]byte)
	return shared{common, client, backup}, errors.Join(s.helpOf(client, native.client), s.helpOf(backup, native.backup))
}

// packages writes the packages of a processor.
func (s *source) packages(out, arch string, p programs, files shared) error {
	return errors.Join(s.debian(out, arch, p, files.common), s.debianClient(out, arch, p.client, files.client),
		s.debianBackup(out, arch, p.backup, files.backup))
}

func run(out string, arches []string) error {
	s, err := open("../..")
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gnocco-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	begun := time.Now()
	step := func(format string, args ...any) {
		fmt.Printf("%3.0f s  "+format+"\n", append([]any{time.Since(begun).Seconds()}, args...)...)
	}
	// Pages and completions come from programs that run here. Two processors share no compiled package, so both are
	// built at a time.
	all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(arches), runtime.GOARCH))))
	built := make([]programs, len(all))
	step("building for %s", strings.Join(all, " and "))
	var builds, packs errgroup.Group
	for i, arch := range all {
		builds.Go(func() (err error) { built[i], err = s.programs(work, arch); return err })
	}
	if err := builds.Wait(); err != nil {
		return err
	}
	files, err := s.shared(built[slices.Index(all, runtime.GOARCH)])
	if err != nil {
		return err
	}
	step("packages and archives")
	images := make(map[string][]file)
	packs.SetLimit(runtime.GOMAXPROCS(0))
	for _, arch := range arches {
		p, name := built[slices.Index(all, arch)], fmt.Sprintf("gnocco-%s-linux-%s", s.version, arch)
		bill, err := sbom(p.static, s.version, s.at)
		if err != nil {
			return err
		}
		program, err := os.ReadFile(p.static)
		if err != nil {
			return err
		}
		archive, inImage := archiveFiles(name, program, files.common), imageFiles(program, files.common)
		for _, beside := range []string{p.client, p.importer, p.migrator} {
			content, err := os.ReadFile(beside)
			if err != nil {
				return err
			}
			f := file{path: "/bin/" + filepath.Base(beside), content: content, mode: 0o755}
			archive = append(archive, f.below(name))
			inImage = append(inImage, f.below("usr"))
		}
		images[arch] = inImage
		packs.Go(func() error { return os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644) })
		packs.Go(func() error {
			return writeArchive(filepath.Join(out, name+".tar.gz"), s.at, archive)
		})
		packs.Go(func() error { return s.packages(out, arch, p, files) })
	}
	if err := packs.Wait(); err != nil {
		return err
	}
	step("packages of Gnocchi's names, chart, image")
	chart, err := s.chartFiles()
	if err != nil {
		return err
	}
	layoutDir, image := filepath.Join(work, "oci"), fmt.Sprintf("gnocco-%s-oci.tar", s.version)
	if err := errors.Join(s.debianAsGnocchi(out, files.common),
		writeArchive(filepath.Join(out, fmt.Sprintf("gnocco-%s-helm.tgz", s.version)), s.at, chart),
		writeImage(layoutDir, s.version, s.at, images),
		archiveFolder(filepath.Join(out, image), s.at, layoutDir), checksums(out)); err != nil {
		return err
	}
	step("done")
	return nil
}

// checksums writes SHA256SUMS of all files of a folder.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), entry.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
