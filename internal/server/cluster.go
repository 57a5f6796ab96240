package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// formatVersion is that of the data folder as a whole: which stores there are, and where. Each store has one of its own too.
// Version 1 had index and incoming stores without epochs; they get theirs when they are taken over, and the version is raised
// before that.
const formatVersion = 2

// Cluster is what cluster.json holds: what never changes during the life of a data folder.
type Cluster struct {
	Format int `json:"format"` // version
	Sacks  int `json:"sacks"`  // their number, which says where a metric's measures lie

	// Coordination is the kind that all processes must use: those who use different ones would not know of each other.
	Coordination string `json:"coordination,omitempty"` // "": file
}

// ReadCluster reads cluster.json.
func (f *Folder) ReadCluster() (Cluster, error) {
	var c Cluster
	if exists(filepath.Join(f.Path, repartitionFile)) {
		return c, fmt.Errorf("server: %s: %w", f.Path, errRepartition)
	}
	path := filepath.Join(f.Path, "cluster.json")
	content, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("server: %w", err)
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return c, fmt.Errorf("server: %s: %w", path, err)
	}
	if c.Format < 1 || c.Format > formatVersion {
		return c, fmt.Errorf("server: %s has format %d; this gnocco knows formats 1 to %d", f.Path, c.Format, formatVersion)
	}
	if c.Sacks < 1 || c.Sacks > maxSacks {
		return c, fmt.Errorf("server: %s: %d sacks", path, c.Sacks)
	}
	return c, nil
}

// ensureCluster reads cluster.json, or writes it at the first start. sacks is the number asked for, 0 for any.
func (f *Folder) ensureCluster(sacks int, coordination string) (Cluster, error) {
	c, err := f.ReadCluster()
	if errors.Is(err, os.ErrNotExist) {
		c = Cluster{Format: formatVersion, Sacks: sacks, Coordination: coordination}
		if sacks == 0 {
			c.Sacks = defaultSacks
		}
		if err := f.writeCluster(c, f.createFile); err != nil && !errors.Is(err, os.ErrExist) {
			return c, err
		}
		c, err = f.ReadCluster() // another process may have been first
	}
	if err == nil && sacks != 0 && sacks != c.Sacks {
		err = fmt.Errorf("server: %s was made with %d sacks, which only gnocco sacks makes %d", f.Path, c.Sacks, sacks)
	}
	if made := cmp.Or(c.Coordination, coordinationFile); err == nil && made != coordination {
		err = fmt.Errorf("server: the processes of %s know each other by %s, not by %s; to change that, end all of them and edit cluster.json",
			f.Path, made, coordination)
	}
	if err == nil && c.Format < formatVersion {
		c.Format = formatVersion
		err = f.writeCluster(c, f.writeFile)
	}
	return c, err
}

func (f *Folder) writeCluster(c Cluster, write func(name string, content []byte) error) error {
	content, err := json.Marshal(c)
	if err == nil {
		err = write("cluster.json", append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}
