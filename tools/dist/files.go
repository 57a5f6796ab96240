package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// file is what is put somewhere: a file, a link, or a folder, whose path ends in a slash.
type file struct {
	path    string
	content []byte
	link    string // "": none
	mode    int64
	user    int
}

func (f file) below(folder string) file {
	f.path = folder + f.path
	return f
}

// programLinks are the names that are links to programs.
func programLinks(folder string) (links []file) {
	links = []file{{path: folder + "/metricd", link: "gnocco"}}
	for _, name := range gnocchiPrograms {
		links = append(links, file{path: folder + "/" + name, link: "gnocco-migrate"})
	}
	return links
}

// writeTar writes files in the order of their paths.
func writeTar(w io.Writer, at time.Time, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	archive := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{
			Name: f.path, Mode: f.mode, Uid: f.user, Gid: f.user, ModTime: at,
			Size: int64(len(f.content)), Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		switch {
		case f.link != "":
			header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.link, 0o777
		case strings.HasSuffix(f.path, "/"):
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// compressed returns content as gzip has it, without a time.
func compressed(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one that there is
	}
	_, _ = w.Write(content) // into memory
	_ = w.Close()
	return b.Bytes()
}

func writeArchive(name string, at time.Time, files []file) error {
	var b bytes.Buffer
	if err := writeTar(&b, at, files); err != nil {
		return err
	}
	return os.WriteFile(name, compressed(b.Bytes()), 0o644)
}

// folderFiles returns the files below a folder, as they lie below another.
func folderFiles(dir, below string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(p)
		files = append(files, file{path: path.Join(below, filepath.ToSlash(rel)), content: content, mode: 0o644})
		return err
	})
	return files, err
}

// archiveFolder writes what lies below a folder.
func archiveFolder(name string, at time.Time, dir string) error {
	files, err := folderFiles(dir, "")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeTar(&b, at, files); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// chartFiles returns Helm's chart, which has the version of the program.
func (s *source) chartFiles() ([]file, error) {
	files, err := folderFiles(filepath.Join(s.root, "deploy", "helm", "gnocco"), "gnocco")
	for _, f := range files {
		if f.path == "gnocco/Chart.yaml" &&
			!strings.Contains(string(f.content), "\nversion: "+s.version+"\nappVersion: "+s.version+"\n") {
			return nil, fmt.Errorf("deploy/helm/gnocco/Chart.yaml has another version than %s", s.version)
		}
	}
	return files, err
}

// gnocchiPrograms are the names of Gnocchi's that gnocco-migrate answers to.
var gnocchiPrograms = []string{"gnocchi-api", "gnocchi-metricd", "gnocchi-statsd", "gnocchi-upgrade"}

// commonFiles returns what is the same for all processors, by its path below /usr/share, /etc and /lib.
func (s *source) commonFiles(program, migrator string) (map[string][]byte, error) {
	all := make(map[string][]byte)
	for to, from := range map[string]string{
		"doc/LICENSE": "LICENSE", "doc/CHANGELOG.md": "CHANGELOG.md", "doc/README.md": "docs/README.md",
		"doc/examples/gnocco.toml": "deploy/gnocco.toml",
		"doc/openapi.yaml":         "openapi.yaml",
		"doc/LICENSES-of-others":   "cmd/gnocco/licenses.txt",
		"doc/LICENSES-of-client":   "cmd/gnocco-client/licenses.txt",
		"doc/LICENSES-of-importer": "cmd/gnocco-import/licenses.txt",
		"doc/LICENSES-of-migrator": "cmd/gnocco-migrate/licenses.txt",
	} {
		content, err := s.read(from)
		if err != nil {
			return nil, err
		}
		all[to] = content
	}
	for _, kind := range []string{"start", "send", "how-to", "reference", "explain"} {
		names, err := filepath.Glob(filepath.Join(s.root, "docs", kind, "*.md"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			to := path.Join("doc", kind, filepath.Base(name))
			if all[to], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	for _, dir := range []string{"deploy/systemd", "deploy/systemd/gnocchi"} {
		units, err := filepath.Glob(filepath.Join(s.root, dir, "*.service"))
		if err != nil {
			return nil, err
		}
		for _, unit := range units {
			content, err := os.ReadFile(unit)
			if err != nil {
				return nil, err
			}
			all["systemd/"+filepath.Base(unit)] = packagedUnit(content)
		}
	}
	if err := s.helpOf(all, program); err != nil {
		return nil, err
	}
	links := filepath.Join(filepath.Dir(program), "links")
	if err := os.MkdirAll(links, 0o755); err != nil {
		return nil, err
	}
	to := map[string]string{"gnocco": program, "gnocco-migrate": migrator}
	for _, f := range programLinks(links) {
		if err := os.Symlink(to[f.link], f.path); err != nil {
			return nil, err
		}
		if err := manual(all, f.path, s.version, s.at); err != nil {
			return nil, err
		}
	}
	return all, manual(all, migrator, s.version, s.at)
}

// helpOf adds the completions of a program that runs here, and its pages.
func (s *source) helpOf(all map[string][]byte, program string) error {
	base := filepath.Base(program)
	for shell, name := range map[string]string{"bash": base, "zsh": "_" + base, "fish": base + ".fish"} {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion for %s: %w", shell, err)
		}
		all["completion/"+shell+"/"+name] = script
	}
	return manual(all, program, s.version, s.at)
}

var (
	header        = regexp.MustCompile(`(?m)\A(#.*\n)+`)
	documentation = regexp.MustCompile(`(?m)^(Documentation=file:.*\.md)$`)
)

// packagedUnit returns a unit as a package installs it: programs are in /usr/bin, and nothing is to be copied by hand.
func packagedUnit(unit []byte) []byte {
	text := header.ReplaceAllString(string(unit), "")
	text = strings.NewReplacer("/usr/local/bin/", "/usr/bin/", "/usr/local/share/doc/", "/usr/share/doc/").Replace(text)
	text = documentation.ReplaceAllString(text, "$1.gz")
	const note = "# The same in all units; docs/how-to/secure.md#hardening says what it leaves out.\n"
	return []byte(strings.ReplaceAll(text, note, ""))
}

// sharedPath returns the place below share where readers look for a file: man, shells, and units for Documentation.
func sharedPath(p string) string {
	kind, name, _ := strings.Cut(p, "/")
	switch kind {
	case "man":
		return "man/man" + name[len(name)-1:] + "/" + name
	case "completion":
		shell, script := path.Split(name)
		return map[string]string{"bash/": "bash-completion/completions/", "zsh/": "zsh/site-functions/",
			"fish/": "fish/vendor_completions.d/"}[shell] + script
	}
	return path.Join("doc/gnocco", name)
}

// archiveFiles returns an archive's files, below a folder of its name.
func archiveFiles(name string, program []byte, common map[string][]byte) []file {
	files := []file{{path: name + "/bin/gnocco", content: program, mode: 0o755}}
	files = append(files, programLinks(name+"/bin")...)
	for p, content := range common {
		if !strings.HasPrefix(p, "systemd/") { // deploy/systemd has units for /usr/local
			files = append(files, file{path: path.Join(name, "share", sharedPath(p)), content: content, mode: 0o644})
		}
	}
	return files
}
