package bench

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gnocco-db/gnocco/bench/report"
)

// Options are what all benchmarks share: which server, where its figures are read, where results go.
type Options struct {
	report.Run

	// URL of a server that runs already. Empty: each benchmark starts children of Binary on a folder of their own.
	URL string
	// PIDs of the processes behind URL; they and their descendants are counted.
	PIDs []int
	// DataDirs are the folders of the server behind URL, to count bytes on disk. They may be empty.
	DataDirs []string
	// Name of the server in results: server=NAME. The default is gnocco for a child, the host and port otherwise.
	Name string

	Binary    string   // gnocco, for children; the default lies beside this program, or else in PATH
	Self      string   // gnocco-bench, for the floor; the default is this program
	ServeArgs []string // further flags of the child's `serve`
	TempDir   string   // where children's folders are made; the default is os.TempDir

	User, Password string // basic authentication; the default user is admin
	Percentiles    bool   // archive policies also have median and 95pct
	Floor          bool   // measure the floor server in the same run
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	if o.User == "" {
		o.User = "admin"
	}
	if o.Self == "" {
		o.Self, _ = os.Executable()
	}
	if o.Binary == "" {
		o.Binary = BesideOrInPath(o.Self, "gnocco")
	}
	if o.Name == "" {
		o.Name = "gnocco"
		if u, err := url.Parse(o.URL); err == nil && o.URL != "" {
			o.Name = u.Host
		}
	}
	o.Run.EnsureDefaults()
}

// BesideOrInPath returns the program of this name in the folder of another program, else that in PATH, else "".
func BesideOrInPath(program, name string) string {
	beside := filepath.Join(filepath.Dir(program), name)
	if found, err := exec.LookPath(beside); err == nil {
		return found
	}
	found, _ := exec.LookPath(name)
	return found
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	var errs []error
	if o.URL != "" {
		if u, err := url.Parse(o.URL); err != nil || u.Host == "" {
			errs = append(errs, fmt.Errorf("url %q: want http://host:port", o.URL))
		}
	} else if len(o.PIDs) > 0 || len(o.DataDirs) > 0 {
		errs = append(errs, errors.New("process ids and data folders belong to a url"))
	}
	if o.Binary == "" && o.URL == "" {
		errs = append(errs,
			errors.New("there is no gnocco to start, neither beside this program nor in PATH: name one"))
	}
	if o.Count < 0 {
		errs = append(errs, fmt.Errorf("count %d: want at least 1", o.Count))
	}
	return errors.Join(errs...)
}

// prepare fills in and validates; every benchmark starts with it.
func (o *Options) prepare() error {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.URL != "" {
		return nil
	}
	return o.Report.Note("%s measured, of revision %s", o.Binary, report.Revision(o.Binary))
}
