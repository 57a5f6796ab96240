package main

import (
	"crypto/sha256"
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

func run(out string, arches []string) error {
	s, err := open("../..")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gnocco-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	step := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }

	// Pages and completions come from a program that runs here.
	native := filepath.Join(work, "native", "gnocco")
	if err := s.build("cmd/gnocco", native, runtime.GOARCH, true); err != nil {
		return err
	}
	common, err := s.commonFiles(native)
	if err != nil {
		return err
	}
	nativeBackup, backupHelp := filepath.Join(work, "native", "gnocco-backup"), make(map[string][]byte)
	if err := s.build("cmd/gnocco-backup", nativeBackup, runtime.GOARCH, true); err != nil {
		return err
	}
	if err := s.helpOf(backupHelp, nativeBackup); err != nil {
		return err
	}
	images := make(map[string][]file)
	for _, arch := range arches {
		step("%s: building", arch)
		static, dynamic := filepath.Join(work, arch, "static"), filepath.Join(work, arch, "gnocco")
		for path, isStatic := range map[string]bool{static: true, dynamic: false} {
			if err := s.build("cmd/gnocco", path, arch, isStatic); err != nil {
				return err
			}
		}
		name := fmt.Sprintf("gnocco-%s-linux-%s", s.version, arch)
		bill, err := sbom(static, s.version, s.at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644); err != nil {
			return err
		}
		program, err := os.ReadFile(static)
		if err != nil {
			return err
		}
		files := archiveFiles(name, program, common)
		if err := writeArchive(filepath.Join(out, name+".tar.gz"), s.at, files); err != nil {
			return err
		}
		images[arch] = imageFiles(program, common)
		step("%s: packages", arch)
		if err := s.debian(out, arch, dynamic, common); err != nil {
			return err
		}
		backup := filepath.Join(work, arch, "gnocco-backup")
		if err := s.build("cmd/gnocco-backup", backup, arch, true); err != nil {
			return err
		}
		if err := s.debianBackup(out, arch, backup, backupHelp); err != nil {
			return err
		}
	}
	step("packages of Gnocchi's names")
	if err := s.debianAsGnocchi(out, common); err != nil {
		return err
	}
	step("image")
	layoutDir := filepath.Join(work, "oci")
	if err := writeImage(layoutDir, s.version, s.at, images); err != nil {
		return err
	}
	if err := archiveFolder(filepath.Join(out, fmt.Sprintf("gnocco-%s-oci.tar", s.version)), s.at,
		layoutDir); err != nil {
		return err
	}
	return checksums(out)
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
