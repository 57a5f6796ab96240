package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// scriptStorage is a store to upstream's scripts. A label set is a series that was pushed with these labels, if
// measures are read, or else a resource, whose attributes are the labels. There is a letter before their names, as
// those of attributes may not begin with an underscore. Scripts begin in 1970: the store's time is later.
type scriptStorage struct {
	*testnode.Node
	t           testing.TB
	engine      *promql.Engine
	granularity time.Duration // that serves; 0: raw measures
	shift       int64         // ms
	earlier     int64         // ms: a measure is taken that much before its sample, at the start of a group
	series      map[string]uuid.UUID
	names       map[string]bool
	pending     []scriptSample
	native      map[string]bool // labels of native histograms: these are pushed
}

type scriptSample struct {
	labels labels.Labels
	part   string // of a native histogram
	t      int64
	v      float64
}

const scriptType = "script"

// newScriptStorage returns an empty one. granularity is that of its archive policy.
func newScriptStorage(t testing.TB, granularity, earlier time.Duration) *scriptStorage {
	s := &scriptStorage{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 4, Workers: 1}), t: t,
		shift: (max(granularity, 30*365*24*time.Hour) + 24*time.Hour).Milliseconds(), earlier: earlier.Milliseconds(),
		series: map[string]uuid.UUID{}, names: map[string]bool{}, native: map[string]bool{}}
	s.engine = promql.New(promql.Options{Archives: testnode.Archives{Metricd: s.Metricd},
		Series:   postings.New(s.Index, postings.Options{Bytes: 64 << 20}),
		Policies: s.Index.ArchivePolicies, Syntax: promtest.Syntax,
		Now: func() time.Time { return carbonara.MaxTimestamp.Time() }})
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &granularity}},
		[]string{"last", "mean", "min", "max", "sum", "count", "std", "first"})
	fatal.If(t, err, s.Index.CreateArchivePolicy(t.Context(), policy))
	kind, err := model.NewResourceType(scriptType, nil)
	fatal.If(t, err, s.Index.CreateResourceType(t.Context(), kind))
	return s
}

func (s *scriptStorage) add(l labels.Labels, part string) (uuid.UUID, error) {
	key := l.String()
	pushed := s.earlier == 0 || s.native[key]
	key += part
	if id, ok := s.series[key]; ok {
		return id, nil
	}
	ctx := context.Background()
	p, err := s.Index.ArchivePolicy("p")
	if err != nil {
		return uuid.Nil, err
	}
	if pushed {
		var text []byte
		l.Range(func(l labels.Label) { text = model.AppendLabel(text, "L"+l.Name, l.Value) })
		if part != "" {
			text = model.AppendLabel(text, model.LabelHistogram, part)
		}
		m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me",
			Labels: model.Labels(model.AppendLabel(text, model.LabelName, "v"))}
		s.series[key] = m.ID
		return m.ID, s.Index.CreateMetrics(ctx, []*model.Metric{m})
	}
	r := &model.Resource{ID: uuid.New(), Type: scriptType, Creator: "me"}
	r.OriginalID = r.ID.String()
	var fresh []*model.Attribute
	l.Range(func(l labels.Label) {
		name := "L" + l.Name
		if !s.names[name] {
			s.names[name] = true
			fresh = append(fresh, &model.Attribute{Name: name, Kind: model.KindString, MaxLength: 255})
		}
		r.Attributes.Set(name, l.Value)
	})
	if len(fresh) > 0 {
		_, err := s.Index.UpdateResourceType(ctx, scriptType,
			func(old *model.ResourceType) (*model.ResourceType, error) {
				return old.Update(append(slices.Clone(old.Attributes), fresh...))
			})
		if err != nil {
			return uuid.Nil, err
		}
	}
	m := &model.Metric{ID: uuid.New(), Name: "v", ArchivePolicy: p, Creator: "me"}
	s.series[key] = m.ID
	return m.ID, s.Index.CreateResource(ctx, r, []*model.Metric{m})
}

// AppenderV2 implements storage.Storage, as all of these do.
func (s *scriptStorage) AppenderV2(context.Context) storage.AppenderV2 { return s }

func (s *scriptStorage) Append(_ storage.SeriesRef, l labels.Labels, _, t int64, v float64, h *histogram.Histogram,
	fh *histogram.FloatHistogram, _ storage.AppendV2Options) (storage.SeriesRef, error) {
	if t < 0 {
		return 0, fmt.Errorf("sample at %d ms", t)
	}
	if h != nil {
		fh = h.ToFloat(nil)
	}
	if fh == nil {
		s.pending = append(s.pending, scriptSample{l, "", t, v})
		return 0, nil
	}
	s.native[l.String()] = true
	for part, v := range promtest.Parts(s.t, fh) {
		s.pending = append(s.pending, scriptSample{l, part, t, v})
	}
	return 0, nil
}

func (s *scriptStorage) Commit() error {
	measures := &model.Measures{}
	at := map[uuid.UUID][]scriptSample{}
	for _, p := range s.pending {
		id, err := s.add(p.labels, p.part)
		if err != nil {
			return err
		}
		at[id] = append(at[id], p)
	}
	s.pending = nil
	measures.Offsets = []int{0}
	var ids []uuid.UUID
	for id, samples := range at {
		ids = append(ids, id)
		for _, p := range samples {
			measures.Timestamps = append(measures.Timestamps, carbonara.Timestamp((p.t+s.shift-s.earlier)*1e6))
			measures.Values = append(measures.Values, p.v)
		}
		measures.Metrics = append(measures.Metrics, id)
		measures.Offsets = append(measures.Offsets, len(measures.Values))
	}
	if err := s.Post(measures); err != nil {
		return err
	}
	return s.Metricd.Refresh(context.Background(), ids)
}

func (s *scriptStorage) Rollback() error                           { return nil }
func (s *scriptStorage) Close() error                              { return nil }
func (s *scriptStorage) StartTime() (int64, error)                 { return 0, nil }
func (s *scriptStorage) Appender(context.Context) storage.Appender { panic("not used") }
func (s *scriptStorage) ChunkQuerier(_, _ int64) (storage.ChunkQuerier, error) {
	return nil, errors.ErrUnsupported
}
func (s *scriptStorage) ExemplarAppender() storage.ExemplarAppender { return nil }
func (s *scriptStorage) AppendExemplar(storage.SeriesRef, labels.Labels, exemplar.Exemplar) (storage.SeriesRef, error) {
	return 0, nil
}

func (s *scriptStorage) Querier(from, to int64) (storage.Querier, error) {
	_, source := s.engine.Prometheus(&promql.Query{Lookback: 5 * time.Minute, Granularity: s.granularity})
	q, err := source.Querier(from, to)
	return &scriptQuerier{q, s}, err
}

// scriptQuerier takes the letters and the shift away again.
type scriptQuerier struct {
	storage.Querier
	s *scriptStorage
}

func (q *scriptQuerier) Select(ctx context.Context, sorted bool, hints *storage.SelectHints,
	matchers ...*labels.Matcher) storage.SeriesSet {
	shifted := *hints
	shifted.Start += q.s.shift
	shifted.End += q.s.shift
	return &scriptSet{q.Querier.Select(ctx, sorted, &shifted, letters(matchers)...), q.s.shift}
}

func letters(matchers []*labels.Matcher) []*labels.Matcher {
	var out []*labels.Matcher
	for _, m := range matchers {
		if !strings.HasPrefix(m.Name, "__offset") && !strings.HasPrefix(m.Name, "__extended") && !strings.HasPrefix(m.Name, "__quantile") {
			m = labels.MustNewMatcher(m.Type, "L"+m.Name, m.Value)
		}
		out = append(out, m)
	}
	return out
}

func (q *scriptQuerier) LabelNames(ctx context.Context, hints *storage.LabelHints,
	matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	names, notes, err := q.Querier.LabelNames(ctx, hints, letters(matchers)...)
	var out []string
	for _, name := range names {
		if plain, ok := strings.CutPrefix(name, "L"); ok {
			out = append(out, plain)
		}
	}
	return out, notes, err
}

func (q *scriptQuerier) LabelValues(ctx context.Context, name string, hints *storage.LabelHints,
	matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return q.Querier.LabelValues(ctx, "L"+name, hints, letters(matchers)...)
}

type scriptSet struct {
	storage.SeriesSet
	shift int64
}

// Unwrap returns the set of the engine's own storage.
func (s *scriptSet) Unwrap() storage.SeriesSet { return s.SeriesSet }

// Warnings leaves out what rates of groups warn of: these scripts' groups have one sample each.
func (s *scriptSet) Warnings() annotations.Annotations {
	notes := annotations.Annotations{}
	for key, note := range s.SeriesSet.Warnings() {
		if !strings.Contains(note.Error(), "within groups are not seen") &&
			!strings.Contains(note.Error(), "is that of one histogram a group") {
			notes[key] = note
		}
	}
	return notes
}

func (s *scriptSet) At() storage.Series {
	found := s.SeriesSet.At()
	var plain labels.ScratchBuilder
	found.Labels().Range(func(l labels.Label) {
		if name, ok := strings.CutPrefix(l.Name, "L"); ok {
			plain.Add(name, l.Value)
		}
	})
	plain.Sort()
	return &scriptSeries{found, plain.Labels(), s.shift}
}

type scriptSeries struct {
	storage.Series
	plain labels.Labels
	shift int64
}

func (s *scriptSeries) Labels() labels.Labels { return s.plain }

func (s *scriptSeries) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return &scriptIterator{s.Series.Iterator(nil), s.shift}
}

type scriptIterator struct {
	chunkenc.Iterator
	shift int64
}

type seekTime = int64 // vet takes a Seek of an int64 for io.Seeker's

func (i *scriptIterator) Seek(t seekTime) chunkenc.ValueType { return i.Iterator.Seek(t + i.shift) }
func (i *scriptIterator) AtT() int64                         { return i.Iterator.AtT() - i.shift }
func (i *scriptIterator) At() (int64, float64) {
	t, v := i.Iterator.At()
	return t - i.shift, v
}
func (i *scriptIterator) AtFloatHistogram(dst *histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	t, h := i.Iterator.AtFloatHistogram(dst)
	return t - i.shift, h
}

// listedScripts is set in the environment of a process of this test that runs only the listed scripts.
const listedScripts = "GNOCCO_LISTED_SCRIPTS"

// Upstream's scripts pass, except the evaluations that testdata/upstream_NAME.txt lists, each with a reason. Listed
// evaluations have to fail.
func TestUpstreamScripts(t *testing.T) {
	scripts := promtest.ReadScripts(t)
	for _, mode := range []struct {
		name                 string
		granularity, earlier time.Duration
		least                int // that pass
	}{{"raw", 50 * 365 * 24 * time.Hour, 0, 2394}, {"second", time.Second, time.Second, 2360}} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && mode.granularity > time.Second {
				t.Skip("a second's archive is enough")
			}
			differs := readDiffering(t, "testdata/upstream_"+mode.name+".txt")
			onlyListed := os.Getenv(listedScripts) != ""
			if !onlyListed {
				requireFailures(t, differs)
			}
			passed := 0
			for _, piece := range scripts {
				s := newScriptStorage(t, mode.granularity, mode.earlier)
				if mode.earlier > 0 {
					s.granularity = mode.granularity
				}
				options, _ := s.engine.Prometheus(new(promql.Query))
				options.EnableDelayedNameRemoval, options.UseStartTimestamps = true, true
				engine := upstream.NewEngine(options)
				run := func(t *testing.T, text string) {
					promqltest.RunTestWithStorage(t, text, engine, func(testing.TB) storage.Storage { return s })
				}
				run(t, piece.Load)
				for _, e := range piece.Evals {
					switch {
					case onlyListed:
						if differs[e.Name] {
							t.Run(e.Name, func(t *testing.T) { run(t, e.Text) })
						}
					case differs[e.Name]:
						delete(differs, e.Name)
					case t.Run(e.Name, func(t *testing.T) { run(t, e.Text) }):
						passed++
					}
				}
				s.Stop(t.Context())
			}
			if onlyListed {
				return
			}
			t.Logf("%d pass", passed)
			if passed < mode.least {
				t.Errorf("%d pass, want %d", passed, mode.least)
			}
			for name := range differs {
				t.Errorf("there is no %s", name)
			}
		})
	}
}

// requireFailures runs what is listed in another process, as a test that fails in this one fails this one, and
// upstream's scripts run in tests only.
func requireFailures(t *testing.T, listed map[string]bool) {
	t.Helper()
	exe, err := os.Executable()
	fatal.If(t, err)
	cmd := exec.Command(exe, "-test.v", "-test.run=^TestUpstreamScripts$/^"+path.Base(t.Name())+"$")
	cmd.Env = append(os.Environ(), listedScripts+"=1")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Log("what is listed is not run below an emulator")
		return
	}
	ran := 0
	for _, result := range regexp.MustCompile(`(?m)^ +--- (PASS|FAIL): `+t.Name()+
		`/([^/ ]+) `).FindAllStringSubmatch(string(out), -1) {
		ran++
		if result[1] == "PASS" {
			t.Errorf("%s passes: it need not be listed any more", result[2])
		}
	}
	if ran != len(listed) {
		t.Errorf("%d of %d that are listed ran: %v\n%.2000s", ran, len(listed), err, out)
	}
}

// readDiffering reads the names of evals from lines of name and reason.
func readDiffering(t *testing.T, file string) map[string]bool {
	content, err := os.ReadFile(file)
	fatal.If(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if reason == "" {
			t.Errorf("%s: %s has no reason", file, name)
		}
		names[name] = true
	}
	return names
}
