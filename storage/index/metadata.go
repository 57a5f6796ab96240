package index

import (
	"bytes"
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
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
	values := map[string]any{}
	for _, m := range list {
		values[project+"\x00"+m.Name] = storedMetadata{m.Kind, m.Help, m.Unit}
	}
	return s.put(ctx, keyspace.Metadata, values)
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
	return each(ctx, s.log, keyspace.Metadata, uuid.Nil, func(key []byte, m *storedMetadata) bool {
		project, name, _ := bytes.Cut(key, []byte{0})
		f(string(project), model.Metadata{Name: string(name), Kind: m.Kind, Help: m.Help, Unit: m.Unit})
		return true
	})
}
