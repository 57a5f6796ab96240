package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

const maintainer = "Gnocco's developers <gnocco@packages.gnocco.org>"

// debPackage gathers what a Debian package holds. Files that are made lie in dir until it is written.
type debPackage struct {
	info *nfpm.Info
	dir  string
	n    int
	err  error
}

func (s *source) newPackage(name, arch, description string) (*debPackage, error) {
	dir, err := os.MkdirTemp("", "gnocco-deb-")
	if err != nil {
		return nil, err
	}
	p := &debPackage{dir: dir, info: &nfpm.Info{
		Name: name, Arch: arch, Platform: "linux", Version: s.version, Section: "database", Priority: "optional",
		Maintainer: maintainer, Description: description, MTime: s.at, DisableGlobbing: true,
	}}
	p.info.Deb.Compression = "gzip"
	return p, nil
}

// addFile takes a file of the disk.
func (p *debPackage) addFile(to, from, kind string, mode os.FileMode) {
	p.info.Contents = append(p.info.Contents, &files.Content{Source: from, Destination: to, Type: kind,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.info.MTime}})
}

// add takes a file's content.
func (p *debPackage) add(to string, content []byte) { p.addAs(to, "", content, 0o644) }

func (p *debPackage) addAs(to, kind string, content []byte, mode os.FileMode) {
	p.n++
	from := filepath.Join(p.dir, fmt.Sprint(p.n))
	if err := os.WriteFile(from, content, 0o644); err != nil {
		p.err = err
	}
	p.addFile(to, from, kind, mode)
}

func (p *debPackage) script(content string) string {
	p.n++
	path := filepath.Join(p.dir, fmt.Sprint(p.n))
	if err := os.WriteFile(path, []byte("#!/bin/sh\nset -e\n"+content+"exit 0\n"), 0o755); err != nil {
		p.err = err
	}
	return path
}

// documents adds what Debian wants of each package, whose program prints licences. The version has no revision, as
// Debian's native packages have none.
func (p *debPackage) documents(s *source, program, overrides string) {
	doc := "/usr/share/doc/" + p.info.Name + "/"
	p.add(doc+"copyright",
		[]byte(
			fmt.Sprintf("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: gnocco\nSource: this package's maintainers\n\n"+
				"Files: *\nCopyright: 2026 Gnocco's developers, and those named in LICENSES-of-others\nLicense: Apache-2.0\n"+
				" On Debian systems the text is in /usr/share/common-licenses/Apache-2.0. What the program is linked from has\n"+
				" licences of its own: /usr/share/doc/%[1]s/LICENSES-of-others.gz, or `%[1]s licenses`.\n", program)))
	p.add(doc+"changelog.gz",
		compressed(
			[]byte(
				fmt.Sprintf(
					"%s (%s) unstable; urgency=medium\n\n  * See /usr/share/doc/gnocco/CHANGELOG.md.gz.\n\n -- %s  %s\n",
					p.info.Name, s.version, maintainer, s.at.Format("Mon, 02 Jan 2006 15:04:05 -0700")))))
	if overrides != "" {
		p.add("/usr/share/lintian/overrides/"+p.info.Name, []byte(overrides))
	}
}

func (p *debPackage) write(out string) error {
	defer os.RemoveAll(p.dir)
	if p.err != nil {
		return p.err
	}
	info := nfpm.WithDefaults(p.info)
	var b bytes.Buffer
	if err := deb.Default.Package(info, &b); err != nil {
		return fmt.Errorf("%s: %w", p.info.Name, err)
	}
	return os.WriteFile(filepath.Join(out, deb.Default.ConventionalFileName(info)), b.Bytes(), 0o644)
}

// manPages adds the pages of programs by the beginning of their names.
func (p *debPackage) manPages(common map[string][]byte, prefixes ...string) {
	for path, content := range common {
		name, ok := strings.CutPrefix(path, "man/")
		for _, prefix := range prefixes {
			if ok && strings.HasPrefix(name, prefix) {
				p.add("/usr/share/man/man"+name[len(name)-1:]+"/"+name+".gz", compressed(content))
			}
		}
	}
}

func (p *debPackage) completions(common map[string][]byte, program string) {
	p.add("/usr/share/bash-completion/completions/"+program, common["completion/bash/"+program])
	p.add("/usr/share/zsh/vendor-completions/_"+program, common["completion/zsh/_"+program])
	p.add("/usr/share/fish/vendor_completions.d/"+program+".fish", common["completion/fish/"+program+".fish"])
}

// units adds units, and returns their commands in the scripts: an installation starts none, an upgrade restarts running
// ones, a purge disables them, as systemctl enable leaves links.
func (p *debPackage) units(common map[string][]byte, names ...string) (afterInstall, beforeRemove, afterRemove string) {
	for _, name := range names {
		p.add("/lib/systemd/system/"+name, common["systemd/"+name])
	}
	list := strings.Join(names, " ")
	runs := strings.ReplaceAll(list, "@.service", "@*.service")
	afterInstall = fmt.Sprintf(`if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
	if [ -n "$2" ]; then
		deb-systemd-invoke try-restart '%s' >/dev/null || true
	fi
fi
`, strings.ReplaceAll(runs, " ", "' '"))
	beforeRemove = fmt.Sprintf(`if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	deb-systemd-invoke stop '%s' >/dev/null || true
fi
`, strings.ReplaceAll(runs, " ", "' '"))
	afterRemove = fmt.Sprintf(`if [ "$1" = purge ]; then
	rm -f %s
fi
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
fi
`, "/etc/systemd/system/*.wants/"+strings.ReplaceAll(runs, " ", " /etc/systemd/system/*.wants/"))
	return afterInstall, beforeRemove, afterRemove
}

// user makes a user, with a number if that is free.
func user(name, home string, number int) string {
	id := ""
	if number != 0 {
		id = fmt.Sprintf(`	if ! getent passwd %[1]d >/dev/null && ! getent group %[1]d >/dev/null; then
		id="--uid %[1]d"
	fi
`, number)
	}
	return fmt.Sprintf(`if [ "$1" = configure ] && ! getent passwd %[1]s >/dev/null; then
	id=
%[3]s	# shellcheck disable=SC2086
	adduser --quiet --system $id --group --home %[2]s --no-create-home --gecos "time-series database" %[1]s
fi
`, name, home, id)
}

// debian writes the package of the program.
func (s *source) debian(out, arch string, programs programs, common map[string][]byte) error {
	p, err := s.newPackage("gnocco", arch, `time-series database that speaks Gnocchi's REST API
Gnocco stores measures of metrics and keeps their aggregates ready to be
read. It speaks the REST API of OpenStack's Gnocchi, PromQL and remote
write, and needs nothing but a folder.
.
It uses CUDA devices where there are any.`)
	if err != nil {
		return err
	}
	p.info.Depends = []string{"gnocco-client (= " + s.version + ")", "libc6", "adduser", "init-system-helpers (>= 1.54~)"}
	p.addFile("/usr/bin/gnocco", programs.dynamic, "", 0o755)
	p.addFile("/usr/bin/gnocco-import", programs.importer, "", 0o755)
	p.addFile("/usr/bin/gnocco-migrate", programs.migrator, "", 0o755)
	p.addFile("/usr/bin/metricd", "gnocco", files.TypeSymlink, 0)
	p.manPages(common, "gnocco", "metricd")
	p.completions(common, "gnocco")
	for path, content := range common {
		if name, ok := strings.CutPrefix(path, "doc/"); ok && name != "LICENSE" {
			if !strings.HasPrefix(name, "examples/") {
				name, content = name+".gz", compressed(content)
			}
			p.add("/usr/share/doc/gnocco/"+name, content)
		}
	}
	p.addAs("/etc/default/gnocco", files.TypeConfigNoReplace, []byte("# Settings of gnocco.service, "+
		"as GNOCCO_LISTEN=127.0.0.1:8041. `gnocco serve --help` lists them,\n"+
		"# and `gnocco help limits` and `gnocco help keystone` the others.\n"), 0o644)
	p.documents(s, "gnocco", strings.Join([]string{
		"# Go links programs itself, without what these ask of C's.",
		"gnocco: hardening-no-relro [usr/bin/gnocco]", "gnocco: hardening-no-pie [usr/bin/gnocco]",
		"gnocco: statically-linked-binary [usr/bin/gnocco-import]",
		"gnocco: statically-linked-binary [usr/bin/gnocco-migrate]",
		"# A native package, as there is no archive that it would go to.",
		"gnocco: initial-upload-closes-no-bugs [usr/share/doc/gnocco/changelog.gz:1]",
		"# Units for clusters are templates of what an operator enables.",
		"gnocco: maintainer-script-calls-systemctl [postinst:*]",
		"gnocco: maintainer-script-calls-systemctl [postrm:*]",
	}, "\n")+"\n")
	install, remove, removed := p.units(common, "gnocco.service", "gnocco-api.service",
		"gnocco-metricd@.service", "gnocco-mount.service")
	p.info.Scripts.PostInstall = p.script(user("gnocco", "/var/lib/gnocco", userID) + install)
	p.info.Scripts.PreRemove = p.script(remove)
	p.info.Scripts.PostRemove = p.script(removed)
	return p.write(out)
}

// debianClient writes the package of gnocco-client, which needs no other.
func (s *source) debianClient(out, arch, program string, help map[string][]byte) error {
	p, err := s.newPackage("gnocco-client", arch, `client of Gnocco's servers
The program by which gnocco's commands ask a server: list, show, query,
rebuild, delete and others. Alone it asks a remote one.`)
	if err != nil {
		return err
	}
	return s.writeBeside(p, out, program, help)
}

// debianBackup writes the package of gnocco-backup.
func (s *source) debianBackup(out, arch, program string, help map[string][]byte) error {
	p, err := s.newPackage("gnocco-backup", arch, `backups of Gnocco in buckets of S3, and encrypted
The program by which gnocco's commands backup and restore use buckets and
encrypt with age.`)
	if err != nil {
		return err
	}
	p.info.Depends = []string{"gnocco (>= " + s.version + ")"}
	return s.writeBeside(p, out, program, help)
}

// writeBeside writes a package of one program of its name, with its pages and completions.
func (s *source) writeBeside(p *debPackage, out, program string, help map[string][]byte) error {
	name := p.info.Name
	licenses, err := s.read("cmd/" + name + "/licenses.txt")
	if err != nil {
		return err
	}
	p.addFile("/usr/bin/"+name, program, "", 0o755)
	p.manPages(help, name)
	p.completions(help, name)
	p.add("/usr/share/doc/"+name+"/LICENSES-of-others.gz", compressed(licenses))
	p.documents(s, name, strings.Join([]string{
		"# As gnocco's.",
		name + ": statically-linked-binary [usr/bin/" + name + "]",
		name + ": initial-upload-closes-no-bugs [usr/share/doc/" + name + "/changelog.gz:1]",
	}, "\n")+"\n")
	return p.write(out)
}

// debianAsGnocchi writes the package of Gnocchi's program names.
func (s *source) debianAsGnocchi(out string, common map[string][]byte) error {
	p, err := s.newPackage("gnocco-as-gnocchi", "all", `Gnocchi's programs, by Gnocco
Brings gnocchi-api, gnocchi-metricd, gnocchi-statsd and gnocchi-upgrade
as names of gnocco-migrate, with units. They read /etc/gnocchi/gnocchi.conf.`)
	if err != nil {
		return err
	}
	others := []string{"gnocchi-api", "gnocchi-metricd", "gnocchi-statsd", "gnocchi-common", "python3-gnocchi"}
	p.info.Depends = []string{"gnocco (>= " + s.version + ")", "adduser", "init-system-helpers (>= 1.54~)"}
	p.info.Conflicts = others
	var units []string
	for _, name := range gnocchiPrograms {
		p.addFile("/usr/bin/"+name, "gnocco-migrate", files.TypeSymlink, 0)
		if unit := name + ".service"; common["systemd/"+unit] != nil {
			units = append(units, unit)
		}
	}
	p.manPages(common, "gnocchi-")
	p.documents(s, "gnocco", strings.Join([]string{
		"gnocco-as-gnocchi: initial-upload-closes-no-bugs [usr/share/doc/gnocco-as-gnocchi/changelog.gz:1]",
		"gnocco-as-gnocchi: maintainer-script-calls-systemctl [postinst:*]",
		"gnocco-as-gnocchi: maintainer-script-calls-systemctl [postrm:*]",
	}, "\n")+"\n")
	install, remove, removed := p.units(common, units...)
	p.info.Scripts.PostInstall = p.script(user("gnocchi", "/var/lib/gnocchi", 0) + install)
	p.info.Scripts.PreRemove = p.script(remove)
	p.info.Scripts.PostRemove = p.script(removed)
	return p.write(out)
}
