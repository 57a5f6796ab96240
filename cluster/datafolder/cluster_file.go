package datafolder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const clusterFile = "cluster.json"

// formatVersion is the version of the data folder as a whole: its stores, and their places. Each store has a version of
// its own too (formats.go). No release wrote lower ones.
const formatVersion = 3

// The number of sacks of a new data folder, and the most that one may have.
const (
	defaultSacks = 16
	MaxSacks     = 4096
)

// The kinds of coordination: CoordinationFile needs nothing but the data folder.
const (
	CoordinationFile = "file"
	CoordinationEtcd = "etcd"
)

// ClusterFile is the content of cluster.json, which never changes during the life of a data folder.
type ClusterFile struct {
	Format int `json:"format"` // version
	// ID is the cluster's name, by which a process tells its own data folder from others.
	ID    string `json:"id"`
	Sacks int    `json:"sacks"` // their number, by which a metric's measures are found

	// Coordination is the kind that all processes must use: users of different ones would not see each other.
	Coordination string `json:"coordination,omitempty"` // "": file
}

// ReadClusterFile reads cluster.json.
func (f *Folder) ReadClusterFile() (ClusterFile, error) {
	var c ClusterFile
	if exists(filepath.Join(f.Path, repartitionFile)) {
		return c, fmt.Errorf("datafolder: %s: %w", f.Path, errRepartition)
	}
	if exists(filepath.Join(f.Path, restoreFile)) {
		return c, fmt.Errorf("datafolder: %s: %w", f.Path, errRestore)
	}
	return f.decodeClusterFile()
}

func (f *Folder) decodeClusterFile() (c ClusterFile, err error) {
	path := filepath.Join(f.Path, clusterFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("datafolder: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields() // what one that is damaged says is not to be left out
	err = decoder.Decode(&c)
	if c.Format > formatVersion { // regardless of the other fields
		return c, fmt.Errorf("datafolder: %s was %w: it has format %d, and this version knows format %d", f.Path,
			storage.ErrLaterFormat, c.Format, formatVersion)
	}
	if err != nil {
		return c, fmt.Errorf("datafolder: %s: %w", path, err)
	}
	if c.Format != formatVersion {
		return c, fmt.Errorf("datafolder: %s: format %d, not %d", path, c.Format, formatVersion)
	}
	if c.Sacks < 1 || c.Sacks > MaxSacks {
		return c, fmt.Errorf("datafolder: %s: %s", path, counted.Of(c.Sacks, "sack"))
	}
	if !clusterID.MatchString(c.ID) {
		return c, fmt.Errorf("datafolder: %s: ID is %q", path, c.ID)
	}
	if !slices.Contains([]string{"", CoordinationFile, CoordinationEtcd}, c.Coordination) {
		return c, fmt.Errorf("datafolder: %s: coordination is %q, neither %s nor %s", path,
			c.Coordination, CoordinationFile, CoordinationEtcd)
	}
	if err := f.checkFormats(); err != nil {
		return c, fmt.Errorf("datafolder: %s: %w", f.Path, err)
	}
	return c, nil
}

// EnsureClusterFile reads cluster.json, or writes it at the first start, which made reports. sacks is the wanted
// number, 0 for any; id names a new cluster, "" for a random name.
func (f *Folder) EnsureClusterFile(sacks int, coordination, id string) (c ClusterFile, made bool, err error) {
	c, err = f.ReadClusterFile()
	if errors.Is(err, os.ErrNotExist) {
		c = ClusterFile{Format: formatVersion, Sacks: sacks, Coordination: coordination, ID: cmp.Or(id, newClusterID())}
		if sacks == 0 {
			c.Sacks = defaultSacks
		}
		err = f.writeClusterFile(c, f.createFile)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return c, false, err
		}
		made = err == nil
		c, err = f.ReadClusterFile() // another process may have been first
	}
	if err == nil && sacks != 0 && sacks != c.Sacks {
		err = fmt.Errorf("datafolder: %s was made with --sacks %d, which only gnocco sacks makes %d", f.Path, c.Sacks,
			sacks)
	}
	if err == nil { // its maker may have ended before it did that
		err = claim.SyncFolder(vfs.Default, f.Path)
	}
	if made := cmp.Or(c.Coordination, CoordinationFile); err == nil && made != coordination {
		err = fmt.Errorf("datafolder: the processes of %s know each other by %s, not by %s; "+
			"gnocco coordination changes that", f.Path, made, coordination)
	}
	return c, made, err
}

// SetCoordination changes how the processes of a folder find each other, and returns how they did before. No process
// runs.
func (f *Folder) SetCoordination(coordination string) (was string, err error) {
	c, err := f.ReadClusterFile()
	if err != nil {
		return "", err
	}
	was = cmp.Or(c.Coordination, CoordinationFile)
	c.Coordination = coordination
	return was, f.writeClusterFile(c, f.WriteFile)
}

func (f *Folder) writeClusterFile(c ClusterFile, write func(name string, content []byte) error) error {
	content, err := json.Marshal(c)
	if err == nil {
		err = write(clusterFile, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	return nil
}
