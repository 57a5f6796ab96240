package postings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// Index is what the labels come from.
type Index interface {
	EachMetric(ctx context.Context, f func(*model.Metric)) error
	EachLiveResource(ctx context.Context, f func(*model.Resource)) error
	Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error
	FindCurrent(ids []uuid.UUID, found []*model.Metric) error
	Resource(resourceType string, id uuid.UUID) (*model.Resource, error)
	ChangesSince(number uint64) (metrics, resources []uuid.UUID, last uint64, ok bool)
	SessionOf(number uint64) (session uint64, ok bool)
	OpenDerived(name string) (file io.ReadCloser, size int64, err error)
	WriteDerived(name string, write func(io.Writer) error) error
}

// Catalog is the label sets of all metrics. It is for many goroutines at once.
type Catalog struct {
	index      Index
	most       int64
	ceilometer bool
	account    *budget.Account
	logger     *slog.Logger
	file       file

	mu    sync.RWMutex
	state *state // nil before the first question
	taken int64  // from account
}

// Options of a Catalog.
type Options struct {
	Bytes  int64          // that it takes at most, roughly
	Budget *budget.Budget // the memory that requests share, which charges for them; nil: no bound but Bytes
	// Ceilometer names metrics of resources, and their labels, as Ceilometer's exporter for Prometheus does.
	Ceilometer bool
	Logger     *slog.Logger // nil: none
}

// New returns the catalog of an index, which is read when it is first asked, or followed.
func New(index Index, o Options) *Catalog {
	c := &Catalog{index: index, most: o.Bytes, ceilometer: o.Ceilometer, account: o.Budget.Account(), logger: o.Logger}
	c.logger = cmp.Or(c.logger, slog.New(slog.DiscardHandler))
	c.file.least = leastUnsaved
	// The index may go to another process: then nobody uses this catalog any more, nor closes it.
	runtime.AddCleanup(c, (*budget.Account).Close, c.account)
	return c
}

// A sizeError says that the labels do not fit into memory. It is a model.ErrUnavailable.
type sizeError struct{ Metrics, Bytes int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf(
		"the labels of all metrics, more than %d, do not fit into %d bytes: the server needs a higher memory limit",
		e.Metrics, e.Bytes)
}

func (e *sizeError) Unwrap() error { return model.ErrUnavailable }

// pair is one label.
type pair struct{ name, value symbol }

// none stands for the place of no resource.
const none = ^uint32(0)

// metric is one series.
type metric struct {
	id                          uuid.UUID
	resource                    uint32 // place in resources; none
	name, unit, policy, creator symbol
	labels, count               uint32 // of a pushed one, in pushedLabels.of
	pushed, gone                bool
	kind                        uint8 // place in kinds
}

// kinds are the types that may be set of a metric.
var kinds = [...]model.SeriesType{"", model.CounterType, model.GaugeType, model.HistogramType}

// state is what the catalog knows of the index up to a change.
type state struct {
	last uint64 // number of the change

	textTable
	resourceTable
	pushed pushedLabels
	naming *naming // nil: Gnocchi's names

	metrics []metric
	gone    int                 // of metrics and resources
	places  table               // of metrics, by ID
	named   map[symbol][]uint32 // metrics by name, ascending; they may be gone
	bytes   int64               // of metrics, resources and what a file had, roughly

	counted counted
}

// Bytes that maps, slices and structs take, about.
const (
	bytesPerMetric   = 72
	bytesPerResource = 144
	bytesPerLabel    = 12
	bytesPerText     = 32
)

func newState(last uint64) *state {
	s := &state{last: last, named: map[symbol][]uint32{}, pushed: pushedLabels{named: map[symbol][]uint32{}},
		resourceTable: resourceTable{resPlaces: map[uuid.UUID]uint32{}, values: map[symbol]map[symbol][]uint32{}}}
	s.intern("")
	return s
}

// size returns the bytes that the state takes, roughly.
func (s *state) size() int64 { return s.bytes + s.textBytes + s.pushed.bytes }

// view calls f with the catalog as the index is now, or later. f must not keep it.
func (c *Catalog) view(ctx context.Context, f func(*state) error) error {
	for {
		c.mu.RLock()
		if s := c.state; s != nil {
			if metrics, resources, _, ok := c.index.ChangesSince(s.last); ok && len(metrics)+len(resources) == 0 {
				defer c.mu.RUnlock()
				return f(s)
			}
		}
		c.mu.RUnlock()
		if err := c.follow(ctx); err != nil {
			return err
		}
	}
}

// Follow brings the catalog up to date, and its file, so that questions find little to read: once one was asked, or is
// expected.
func (c *Catalog) Follow(ctx context.Context, expected bool) error {
	c.mu.RLock()
	asked := c.state != nil
	due := asked && c.isDue()
	c.mu.RUnlock()
	if due {
		return c.follow(ctx)
	}
	if !asked && !expected {
		return nil
	}
	return c.view(ctx, func(*state) error { return nil })
}

// follow brings the catalog up to date.
func (c *Catalog) follow(ctx context.Context) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == nil && !c.file.tried {
		if err := c.readFile(ctx); err != nil {
			return err
		}
	}
	var number uint64
	if c.state != nil {
		number = c.state.last
	}
	metrics, resources, last, ok := c.index.ChangesSince(number)
	// Deleted metrics leave holes; once they are many, all is read again.
	if !ok || c.state == nil || c.state.gone > 1000 && 2*c.state.gone > len(c.state.metrics)+len(c.state.resources) {
		return c.load(ctx, last)
	}
	// An error leaves the number as it is, so that all of these are read once more.
	s := c.state
	if last != s.last {
		s.counted.Clear()
	}
	for _, id := range resources {
		r, err := c.index.Resource(model.GenericType, id)
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
		s.setResource(id, r) // nil: it is gone
	}
	found := make([]*model.Metric, len(metrics))
	if err := c.index.FindCurrent(metrics, found); err != nil {
		return err
	}
	for i, id := range metrics {
		if s.dropMetric(id); found[i] != nil {
			s.addMetric(found[i])
		}
	}
	if s.size() > c.most { // what is forgotten still counts
		return c.load(ctx, last)
	}
	if err := c.cover(ctx, s); err != nil {
		return err
	}
	s.last = last
	c.changed(len(metrics) + len(resources))
	return nil
}

const (
	labelsTaken    = 256 << 10       // bytes that are taken at once for labels
	labelsPatience = 5 * time.Second // how long labels wait for memory that other requests use
)

// cover takes memory for a state. mu is held.
func (c *Catalog) cover(ctx context.Context, s *state) error {
	if s.size() > c.most {
		return &sizeError{int64(len(s.metrics)), c.most}
	}
	if s.size() <= c.taken {
		return nil
	}
	more := s.size() - c.taken + labelsTaken
	if err := c.account.Await(ctx, budget.Labels, more, labelsPatience); err != nil {
		return err
	}
	c.taken += more
	return nil
}

// forget makes the state nil, as it is before the first question. mu is held.
func (c *Catalog) forget() {
	c.account.Close()
	c.state, c.taken = nil, 0
}

// load reads everything. Changes that it meets half-way are after last, and are read once more. mu is held.
func (c *Catalog) load(ctx context.Context, last uint64) error {
	c.forget()
	s := newState(last)
	if c.ceilometer {
		s.naming = newNaming(&s.textTable)
	}
	var full error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	check := func() bool {
		if full == nil {
			if full = c.cover(ctx, s); full != nil {
				stop()
			}
		}
		return full == nil
	}
	err := c.index.EachLiveResource(ctx, func(r *model.Resource) {
		if check() {
			s.setResource(r.ID, r)
		}
	})
	if err == nil {
		err = c.index.EachMetric(ctx, func(m *model.Metric) {
			if check() {
				s.addMetric(m)
			}
		})
	}
	if err := cmp.Or(full, err); err != nil {
		c.forget()
		return err
	}
	c.state = s
	c.changed(len(s.metrics) + len(s.resources))
	return nil
}

// placeOf returns the place of a metric that is not gone.
func (s *state) placeOf(id uuid.UUID) (place uint32, ok bool) {
	return s.places.find(hashOf(id), func(place uint32) bool {
		return s.metrics[place].id == id && !s.metrics[place].gone
	})
}

func hashOf(id uuid.UUID) uint64 { return maphash.Bytes(seed, id[:]) }

// addMetric adds a metric that is not there. Its resource is read before it, but for one that is created meanwhile:
// then a change of the metric also comes.
func (s *state) addMetric(m *model.Metric) {
	if _, ok := s.placeOf(m.ID); ok {
		return
	}
	place := uint32(len(s.metrics))
	var before metric // which mostly has the same texts
	if place > 0 {
		before = s.metrics[place-1]
	}
	intern := func(text string, likely symbol) symbol {
		if s.texts[likely] == text {
			return likely
		}
		return s.intern(text)
	}
	added := metric{id: m.ID, resource: none, unit: intern(m.Unit, before.unit),
		policy: intern(m.ArchivePolicy.Name, before.policy), creator: intern(m.Creator, before.creator),
		kind: uint8(max(0, slices.Index(kinds[:], m.Type)))}
	if m.Labels == "" {
		added.name = intern(m.Name, before.name)
	}
	switch {
	case m.Labels != "":
		s.pushed.add(&s.textTable, &added, place, m.Labels)
	case m.ResourceID != nil:
		at, ok := s.resPlaces[*m.ResourceID]
		if !ok {
			return
		}
		added.resource = at
		s.resources[at].metrics = append(s.resources[at].metrics, place)
		s.naming.add(&s.textTable, added.name)
	}
	s.metrics = append(s.metrics, added)
	s.places.add(hashOf(m.ID), place, func(place uint32) uint64 { return hashOf(s.metrics[place].id) })
	for _, name := range s.naming.namesOf(&added) {
		s.named[name] = append(s.named[name], place)
	}
	s.bytes += bytesPerMetric
}

// dropMetric removes a metric if it is there. Lists of metrics keep it, and their readers skip it: removal from a long
// list costs more.
func (s *state) dropMetric(id uuid.UUID) {
	place, ok := s.placeOf(id)
	if !ok {
		return
	}
	m := &s.metrics[place]
	if m.resource != none {
		r := &s.resources[m.resource]
		r.metrics = without(r.metrics, place)
	}
	m.gone = true
	s.gone++
}

// setResource gives a resource the labels that it has now; nil: it is gone.
func (s *state) setResource(id uuid.UUID, r *model.Resource) {
	place, ok := s.resPlaces[id]
	if r == nil {
		if ok {
			s.setLabels(place, nil, nil)
			s.resources[place].gone = true
			delete(s.resPlaces, id)
			s.gone++
		}
		return
	}
	if !ok {
		place = uint32(len(s.resources))
		s.resources = append(s.resources, resource{id: id})
		s.resPlaces[id] = place
		s.bytes += bytesPerResource
	}
	at := &s.resources[place]
	at.original, at.creator = s.intern(r.OriginalID), s.intern(r.Creator)
	list, shown := s.labelsOf(r), s.naming.labelsOf(&s.textTable, r)
	s.setLabels(place, list, shown)
	s.bytes += int64(len(list)+len(shown)) * bytesPerLabel
}

// Labels that are not attributes.
const (
	labelName         = model.LabelName
	labelMetricID     = "metric_id"
	labelUnit         = "unit"
	labelPolicy       = "archive_policy"
	labelResourceID   = "resource_id"
	labelResourceType = "resource_type"
	labelOriginalID   = "original_resource_id"
	labelProjectID    = "project_id"
	labelUserID       = "user_id"
	labelMetricName   = "metric_name" // these two as in Gnocchi, although they are no names of PromQL
	labelMetricUnit   = "metric_unit"
)

// LabelAny is the label that has every text by which people know a series.
const LabelAny = "__any__"

var ownLabels = []string{labelName, labelMetricID, labelUnit, labelPolicy, labelResourceID, labelResourceType}

// labelsOf returns a resource's labels, by name, but for its ID.
func (s *state) labelsOf(r *model.Resource) []pair {
	labels := []pair{{s.intern(labelResourceType), s.intern(r.Type)}}
	for name, value := range map[string]*string{labelProjectID: r.ProjectID, labelUserID: r.UserID} {
		if value != nil && *value != "" {
			labels = append(labels, pair{s.intern(name), s.intern(*value)})
		}
	}
	for _, a := range r.Attributes {
		value := attributeText(a.Value)
		if value == "" {
			continue
		}
		labels = append(labels, pair{s.intern(attributeLabel(a.Name)), s.intern(value)})
	}
	slices.SortFunc(labels, func(a, b pair) int { return cmp.Compare(s.texts[a.name], s.texts[b.name]) })
	return labels
}

// attributeLabel returns the label of an attribute.
func attributeLabel(name string) string {
	if slices.Contains(ownLabels, name) {
		return "attribute_" + name
	}
	return name
}

// attributeText shows an attribute as a label's value; "" for null.
func attributeText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case uuid.UUID:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case carbonara.Timestamp:
		return string(model.AppendTimestamp(nil, v))
	}
	return ""
}

// with returns an ascending list with a place that it lacks.
func with(list []uint32, place uint32) []uint32 {
	i, ok := slices.BinarySearch(list, place)
	if ok {
		return list
	}
	return slices.Insert(list, i, place)
}

// without returns an ascending list without a place.
func without(list []uint32, place uint32) []uint32 {
	if i, ok := slices.BinarySearch(list, place); ok {
		return slices.Delete(list, i, i+1)
	}
	return list
}
