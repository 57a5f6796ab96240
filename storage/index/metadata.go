package index

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// storedMetadata is the value of a name's metadata.
type storedMetadata struct {
	Kind string `json:"type"`
	Help string `json:"help,omitempty"`
	Unit string `json:"unit,omitempty"`
}

// PutMetadata replaces the metadata of these names in a project.
func (s *documents) PutMetadata(ctx context.Context, project string, list []model.Metadata) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		for _, m := range list {
			key := keyspace.MetadataKey(project, m.Name)
			if err := records.SetJSON(c.Batch, key, storedMetadata{m.Kind, m.Help, m.Unit}); err != nil {
				return err
			}
		}
		return nil
	})
}

// MetadataKind returns the type of a name by metadata, "" for none.
func (s *documents) MetadataKind(of SeriesName) string {
	value, err := s.log.Get(keyspace.MetadataKey(of.Project, of.Name))
	var stored storedMetadata
	if err != nil || value == nil || records.DecodeJSON(value, &stored) != nil {
		return "" // EachMetadata tells of damage
	}
	return stored.Kind
}

// EachMetadata calls f for the metadata of all projects. Values that do not decode are left out.
func (s *documents) EachMetadata(ctx context.Context, f func(project string, m model.Metadata)) error {
	return s.log.Scan(ctx, []byte{keyspace.Metadata}, nil, func(key, value []byte) (bool, error) {
		project, name, ok := bytes.Cut(key[1:], []byte{0})
		var stored storedMetadata
		err := records.DecodeJSON(value, &stored)
		if err == nil && !ok {
			err = records.ErrCorrupt
		}
		if err != nil {
			err = fmt.Errorf("metadata %q: %w", key[1:], err)
			if s.log.SkipCorrupt(err) {
				return true, nil
			}
			return false, err
		}
		f(string(project), model.Metadata{Name: string(name), Kind: stored.Kind, Help: stored.Help, Unit: stored.Unit})
		return true, nil
	})
}
