package series

import (
	"maps"
	"sync"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
)

// Metadata describes the series of a name.
type Metadata struct{ Name, Kind, Help, Unit string }

// Describe keeps metadata from a user.
func (w *Writer) Describe(who *auth.Identity, list []Metadata) { w.metadata.add(who, list) }

// Metadata returns the metadata that senders of a user's project sent, by name.
func (w *Writer) Metadata(who *auth.Identity) map[string]Metadata { return w.metadata.of(who) }

// metadata is the types and texts that senders repeat about their series. Memory keeps them, by project and name.
type metadata struct {
	mu    sync.Mutex
	known map[string]map[string]Metadata
	count int
}

// maxMetadata is the most names of which metadata is kept.
const maxMetadata = 20_000

// add keeps more metadata of a project.
func (s *metadata) add(who *auth.Identity, list []Metadata) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]map[string]Metadata{}
	}
	project := web.ProjectOf(who)
	for _, m := range list {
		names := s.known[project]
		if names == nil {
			names = map[string]Metadata{}
			s.known[project] = names
		}
		if _, ok := names[m.Name]; !ok {
			if s.count >= maxMetadata {
				continue
			}
			s.count++
		}
		names[m.Name] = m
	}
}

// kind returns the type that senders of the user's project sent for a name, "" for none.
func (s *metadata) kind(who *auth.Identity, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[web.ProjectOf(who)][name].Kind
}

// of returns what senders of the user's project said.
func (s *metadata) of(who *auth.Identity) map[string]Metadata {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.known[web.ProjectOf(who)])
}
