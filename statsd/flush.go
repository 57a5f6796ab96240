package statsd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// named is a measure under its metric's name.
type named struct {
	name string
	*measure
}

// flush stores what was gathered since the last one, in one request. What cannot be stored is counted and lost.
func (s *Server) flush(ctx context.Context) error {
	s.mu.Lock()
	g := s.gathered
	s.gathered = newGathered(s.options.MaxMetrics)
	s.mu.Unlock()
	if g.metrics == 0 {
		return nil
	}
	all := make([]named, 0, g.metrics)
	for kind, measures := range g.measures {
		for name, m := range measures {
			// No metric's name has a slash.
			all = append(all, named{strings.ReplaceAll(name, "/", "_") + "|" + suffixes[kind], m})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.name, b.name) })
	all = mergeEqual(all)

	err := s.ensureMetrics(ctx, all)
	var refused *policyError
	if errors.As(err, &refused) { // for who runs the server to mend; the rest is stored
		s.options.Logger.Warn("statsd: measures dropped", "error", refused)
		s.telemetry.refuse(reasonPolicy, len(refused.names))
		err = nil
	}
	s.measures.Reset()
	s.measures.Offsets = append(s.measures.Offsets, 0)
	for _, m := range all {
		if id, ok := s.metrics[m.name]; ok {
			s.measures.Metrics = append(s.measures.Metrics, id)
			s.measures.Timestamps = append(s.measures.Timestamps, m.at)
			s.measures.Values = append(s.measures.Values, m.value)
			s.measures.Offsets = append(s.measures.Offsets, s.measures.Len())
		}
	}
	lost := len(all) - s.measures.Len()
	if refused != nil {
		lost -= len(refused.names)
	}
	if s.measures.Len() > 0 {
		blocks := s.partition.Blocks(&s.measures, s.options.Sacks, s.options.Now())
		if appendErr := s.options.Incoming.Append(ctx, blocks); appendErr != nil {
			err = errors.Join(err, appendErr)
			lost += s.measures.Len()
		}
	}
	s.telemetry.refuse(reasonStore, lost)
	return err
}

// mergeEqual makes one of the measures whose names became equal: the latest one, or the sum of counters.
func mergeEqual(all []named) []named {
	kept := all[:0]
	for _, m := range all {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].name != m.name:
			kept = append(kept, m)
		case strings.HasSuffix(m.name, "|"+suffixes[counter]):
			kept[last].measure = &measure{max(kept[last].at, m.at), kept[last].value + m.value}
		case m.at >= kept[last].at:
			kept[last] = m
		}
	}
	return kept
}

// policyError is of metrics for which there is no archive policy.
type policyError struct{ names []string }

func (e *policyError) Error() string {
	const shown = 10
	names, more := e.names, ""
	if len(names) > shown {
		names, more = names[:shown], ", …"
	}
	return "statsd: no archive policy for " + strings.Join(names, ", ") + more
}

// ensureMetrics makes s.metrics hold the metrics of all, creating those that are not there. Those that it does not hold
// afterwards are told by the error.
func (s *Server) ensureMetrics(ctx context.Context, all []named) error {
	missing := s.missing(all)
	if len(missing) == 0 {
		return nil
	}
	// Perhaps somebody else has created them, or the resource was deleted.
	if err := s.ensureResource(ctx); err != nil {
		return err
	}
	if err := s.loadMetrics(ctx); err != nil {
		return err
	}
	var created []*model.Metric
	var without policyError
	for _, name := range s.missing(all) {
		policy, err := s.archivePolicy(name)
		if err != nil {
			without.names = append(without.names, name)
			continue
		}
		created = append(created, &model.Metric{ID: model.NewMetricID(), Name: name, Creator: s.options.Creator, ArchivePolicy: policy,
			ResourceID: &s.resource})
	}
	if err := s.create(ctx, created); err != nil {
		return err
	}
	if without.names != nil {
		return &without
	}
	return nil
}

// create creates metrics in one write, or, if one of them cannot be created, each by itself.
func (s *Server) create(ctx context.Context, metrics []*model.Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	err := s.options.Index.CreateMetrics(ctx, metrics)
	if err == nil {
		for _, m := range metrics {
			s.metrics[m.Name] = m.ID
		}
		return nil
	}
	if len(metrics) == 1 {
		return err
	}
	var errs []error
	for _, m := range metrics {
		errs = append(errs, s.create(ctx, []*model.Metric{m}))
	}
	return errors.Join(errs...)
}

// missing returns the names of all that have no metric yet, or whose metric was deleted.
func (s *Server) missing(all []named) (names []string) {
	for _, m := range all {
		id, ok := s.metrics[m.name]
		if ok && s.options.Index.Lookup(id) == nil {
			delete(s.metrics, m.name)
			ok = false
		}
		if !ok {
			names = append(names, m.name)
		}
	}
	return names
}

func (s *Server) archivePolicy(metricName string) (*model.ArchivePolicy, error) {
	if s.options.ArchivePolicyName != "" {
		return s.options.Index.ArchivePolicy(s.options.ArchivePolicyName)
	}
	return s.options.Index.MatchArchivePolicyRule(metricName)
}

// ensureResource creates the resource that holds the metrics, unless it is there.
func (s *Server) ensureResource(ctx context.Context) error {
	id, now := s.resource, carbonara.FromTime(s.options.Now())
	if _, err := s.options.Index.Resource(model.GenericType, id); !errors.Is(err, model.ErrNotFound) {
		return err
	}
	err := s.options.Index.CreateResource(ctx, &model.Resource{ID: id, OriginalID: s.options.Resource, Type: model.GenericType,
		Creator: s.options.Creator, StartedAt: now, RevisionStart: now}, nil)
	if errors.Is(err, model.ErrExists) { // meanwhile
		return nil
	}
	return err
}

// loadMetrics reads the metrics that the resource has.
func (s *Server) loadMetrics(ctx context.Context) error {
	metrics, err := s.options.Index.MetricsOfResource(ctx, s.resource)
	if err != nil {
		return err
	}
	s.metrics = make(map[string]uuid.UUID, len(metrics))
	for _, m := range metrics {
		s.metrics[m.Name] = m.ID
	}
	return nil
}
