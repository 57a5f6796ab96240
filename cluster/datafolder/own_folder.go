package datafolder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// ErrRefused is the kind of the errors of a data folder that is not the cluster's own: it is empty, another cluster's,
// gone, or its mount is dead. Writes there would be lost when the right folder is back.
var ErrRefused = errors.New("refused the data folder")

// Terms say which data folder a server accepts.
type Terms struct {
	Sacks        int // 0: any
	Coordination string
	Cluster      string // ID that the folder must have; "": any
	// State is a folder of this machine. It remembers, outside of data folders, the ID of the cluster in each of them.
	// "": it remembers nothing.
	State string
	FS    vfs.FS // that the stores are on; nil: the disk
	// Make makes a folder that holds no cluster into a new one, unless State remembers a cluster there.
	Make bool
}

var clusterID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Validate returns an error if Cluster cannot be an ID.
func (t *Terms) Validate() error {
	if t.Cluster != "" && !clusterID.MatchString(t.Cluster) {
		return fmt.Errorf("datafolder: cluster ID is %q, not letters, digits, dot, dash and underscore", t.Cluster)
	}
	return nil
}

// Enter shares the data folder at path with other servers if it is the cluster's own. made reports that it held no
// cluster before. Release ends the use.
func Enter(path string, terms Terms) (f *Folder, c ClusterFile, made bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, c, false, fmt.Errorf("datafolder: %w", err)
	}
	memory := rememberedAt(terms.State, path)
	known, err := memory.read()
	if err != nil {
		return nil, c, false, err
	}
	holds, err := holdsCluster(path)
	switch {
	case err != nil:
		return nil, c, false, err
	case !holds && known != "":
		return nil, c, false, fmt.Errorf("datafolder: %w %s: it holds no cluster, and held %s when this machine last used "+
			"it (%s): is its mount missing? For a new cluster, run gnocco init --data %[2]s", ErrRefused, path, known, memory)
	case !holds && !terms.Make:
		return nil, c, false, fmt.Errorf("datafolder: %w %s: it holds no cluster: is its mount missing? For a new cluster, "+
			"run gnocco init --data %[2]s, or start with --init", ErrRefused, path)
	}
	if f, err = Share(path); err != nil {
		return nil, c, false, err
	}
	f.fs = terms.FS
	c, made, err = f.EnsureClusterFile(terms.Sacks, terms.Coordination, terms.Cluster)
	for _, wanted := range []string{terms.Cluster, known} {
		if err == nil && wanted != "" && c.ID != wanted {
			err = fmt.Errorf("datafolder: %w %s: it holds the cluster %s, not %s: is another disk mounted?", ErrRefused, path,
				c.ID, wanted)
			if wanted == known {
				err = fmt.Errorf("%w If this one is meant, run gnocco init: %s has the other", err, memory)
			}
		}
	}
	if err == nil {
		err = f.begin(c.ID)
	}
	if err == nil {
		err = f.anchor()
	}
	if err != nil {
		return nil, c, false, errors.Join(err, f.Release())
	}
	return f, c, made, nil
}

// Init makes a folder without a cluster into a new one, and makes this machine remember the cluster in place of any
// other.
func Init(path string, terms Terms) (c ClusterFile, made bool, err error) {
	terms.Make = true
	if err := terms.Validate(); err != nil {
		return c, false, err
	}
	state := terms.State
	terms.State = ""
	f, c, made, err := Enter(path, terms)
	if err != nil {
		return c, false, err
	}
	path = f.Path
	if err := f.Release(); err != nil {
		return c, false, fmt.Errorf("datafolder: %w", err)
	}
	return c, made, rememberedAt(state, path).write(c.ID)
}

// Remember makes this machine remember the cluster of a folder.
func (f *Folder) Remember(state string) error { return rememberedAt(state, f.Path).write(f.id) }

func newClusterID() string { return uuid.NewString()[:13] }

// holdsCluster reports whether a folder has been a cluster's.
func holdsCluster(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, refusal(path, err)
	}
	for _, name := range []string{clusterFile, repartitionFile, restoreFile} {
		_, err := os.Stat(filepath.Join(path, name))
		if err == nil {
			return true, nil
		}
		if err := refusal(path, err); err != nil {
			return false, err
		}
	}
	return false, nil
}

// deadMount are the errors of a mount whose server, or whose process of FUSE, does not answer any more, or has shut
// this client out: CephFS says EBLOCKLISTED, which is ESHUTDOWN.
var deadMount = []error{unix.ENOTCONN, unix.ESTALE, unix.ESHUTDOWN, unix.EIO, unix.EHOSTDOWN}

// refusal returns what an error of stat means for a data folder: nil if it is only not there.
func refusal(path string, err error) error {
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, dead := range deadMount {
		if errors.Is(err, dead) {
			return fmt.Errorf("datafolder: %w %s: its mount is dead (%w): unmount it, and mount it again", ErrRefused, path,
				dead)
		}
	}
	return fmt.Errorf("datafolder: data folder: %w", err)
}

// memory is the file by which this machine remembers the cluster of a data folder; "": there is none.
type memory string

// rememberedAt returns the file for a data folder. A state folder within the data folder would be gone with it.
func rememberedAt(state, path string) memory {
	if state == "" || state == path || strings.HasPrefix(state, path+"/") {
		return ""
	}
	return memory(filepath.Join(state, path, "cluster-id"))
}

func (m memory) read() (id string, err error) {
	if m == "" {
		return "", nil
	}
	content, err := os.ReadFile(string(m))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("datafolder: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

func (m memory) write(id string) error {
	if known, err := m.read(); m == "" || id == "" || err == nil && known == id {
		return err
	}
	dir := filepath.Dir(string(m))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	if err := (&Folder{Path: dir}).WriteFile(filepath.Base(string(m)), []byte(id+"\n")); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	return nil
}

// begin notes which folder it is that Check compares with.
func (f *Folder) begin(id string) (err error) {
	f.id = id
	if f.root, err = os.Stat(f.Path); err == nil {
		f.file, err = os.Stat(filepath.Join(f.Path, clusterFile))
	}
	if err != nil {
		return cmp.Or(refusal(f.Path, err), fmt.Errorf("datafolder: %w", err))
	}
	return nil
}

// Check returns an ErrRefused if the folder is not the one that Enter found: it was unmounted, another one was mounted
// in its place, or its mount is dead. The lock, which is an open file, keeps numbers of inodes as they are where a file
// system makes them up.
func (f *Folder) Check() error {
	f.checking.Lock()
	defer f.checking.Unlock()
	changed := func(how string) error {
		return fmt.Errorf("datafolder: %w %s: %s since the start: was it unmounted?", ErrRefused, f.Path, how)
	}
	file, fileErr := os.Stat(filepath.Join(f.Path, clusterFile))
	if fileErr == nil && os.SameFile(file, f.file) {
		return nil
	}
	root, err := os.Stat(f.Path)
	if err == nil && !os.SameFile(root, f.root) {
		return changed("it became another folder")
	}
	if err != nil {
		return cmp.Or(refusal(f.Path, err), changed("it went away"))
	}
	if fileErr != nil {
		return cmp.Or(refusal(f.Path, fileErr), changed("its cluster.json went away"))
	}
	c, err := f.ReadClusterFile() // written anew, perhaps
	if err != nil {
		return err
	}
	if c.ID != f.id {
		return changed("it became the cluster " + c.ID)
	}
	f.file = file
	return nil
}

// checkWait is how long a check may take whose result decides only between words.
const checkWait = time.Second

// Why returns the ErrRefused of Check, or else err. It waits for a second at most.
func (f *Folder) Why(err error) error {
	checked := make(chan error, 1)
	go func() {
		own := Folder{Path: f.Path, id: f.id, root: f.root, file: f.file}
		checked <- own.Check()
	}()
	select {
	case found := <-checked:
		if errors.Is(found, ErrRefused) {
			return found
		}
	case <-time.After(checkWait):
	}
	return err
}

// IsDeadMount reports whether an error of Check may pass: some file systems answer so while their servers are away.
func IsDeadMount(err error) bool {
	return slices.ContainsFunc(deadMount, func(dead error) bool { return errors.Is(err, dead) })
}
