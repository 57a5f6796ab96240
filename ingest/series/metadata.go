package series

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Metadata describes the series of a name.
type Metadata = model.Metadata

// Describe keeps metadata from a creator of series. Those that are there move if it says that they grow.
func (w *Writer) Describe(ctx context.Context, creator string, list []Metadata) {
	project := model.ProjectOf(creator)
	changed, refused := w.metadata.add(project, list)
	if len(refused) > 0 {
		w.Refuse("metadata", "names", len(refused), refused[0].Name)
	}
	if len(changed) == 0 {
		return
	}
	if err := w.Ingester.Index.PutMetadata(ctx, project, changed); err != nil {
		w.Logger.Warn("metadata of series is not stored; senders repeat it", "error", err)
		w.metadata.forget(project, changed)
		return
	}
	names := make([]index.SeriesName, 0, len(familyEndings)*len(changed))
	for _, m := range changed {
		for _, ending := range familyEndings {
			names = append(names, index.SeriesName{Project: project, Name: m.Name + ending})
		}
	}
	w.Ingester.Index.Retype(names...)
}

// familyEndings are those of the series whose types follow from the metadata of a name.
var familyEndings = []string{"", "_total", "_count", "_sum", "_bucket"}

// Metadata returns the metadata that senders of a creator's project sent, by name.
func (w *Writer) Metadata(creator string) map[string]Metadata {
	return w.metadata.of(model.ProjectOf(creator))
}

// TypeOf returns the type of a metric and its source.
func (w *Writer) TypeOf(m *model.Metric) (model.SeriesType, model.TypeSource) {
	if m.Labels == "" {
		return model.TypeOf(m, nil)
	}
	return model.TypeOf(m, func(name string) string { return w.metadata.kind(model.ProjectOf(m.Creator), name) })
}

// metadata is the types and texts that senders repeat about their series, by project and name. The index also keeps
// them.
type metadata struct {
	mu    sync.Mutex
	known map[string]map[string]Metadata
	count int
}

// maxMetadata is the most names of which metadata is kept. Beyond, a project takes the place of names of another one
// that has more, so that projects come to equal shares.
const maxMetadata = 20_000

// add keeps metadata of a project, and returns what of it is new, and what has no place.
func (s *metadata) add(project string, list []Metadata) (changed, refused []Metadata) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.known[project]
	if names == nil {
		names = map[string]Metadata{}
		s.known[project] = names
	}
	for _, m := range list {
		earlier, ok := names[m.Name]
		switch {
		case ok && earlier == m:
			continue
		case !ok && s.count >= maxMetadata && !s.evict(len(names)):
			refused = append(refused, m)
			continue
		case !ok:
			s.count++
		}
		names[m.Name] = m
		changed = append(changed, m)
	}
	return changed, refused
}

// evict forgets a name of the project with most names, if these are more than so many and one.
func (s *metadata) evict(than int) bool {
	longer := func(a, b map[string]Metadata) int { return len(a) - len(b) }
	most := slices.MaxFunc(slices.Collect(maps.Values(s.known)), longer)
	if len(most) > than+1 {
		for name := range most {
			delete(most, name)
			s.count--
			return true
		}
	}
	return false
}

// forget drops metadata that is not stored: the next time it is new again.
func (s *metadata) forget(project string, list []Metadata) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		if _, ok := s.known[project][m.Name]; ok {
			delete(s.known[project], m.Name)
			s.count--
		}
	}
}

// kind returns the type that senders of a project sent for a name, "" for none.
func (s *metadata) kind(project, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[project][name].Kind
}

// of returns what senders of a project said.
func (s *metadata) of(project string) map[string]Metadata {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.known[project])
}
