// Two minutes of one goroutine tell the race detector nothing that the other tests do not.

//go:build !race

package promql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// scriptStorage is a store to upstream's scripts. A label set is a series that was pushed with these labels, if
// measures are read, or else a resource, whose attributes are the labels. There is a letter before their names, as
// those of attributes may not begin with an underscore. Scripts begin in 1970: the store's time is later.
type scriptStorage struct {
	*store
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
	s := &scriptStorage{store: newStore(t, promqltest.TestParserOpts),
		shift: (max(granularity, 30*365*24*time.Hour) + 24*time.Hour).Milliseconds(), earlier: earlier.Milliseconds(),
		series: map[string]uuid.UUID{}, names: map[string]bool{}, native: map[string]bool{}}
	s.now = time.Unix(0, carbonara.MaxTimestamp.Time().UnixNano())
	s.policy("p", []string{"last", "mean", "min", "max", "sum", "count", "std", "first"}, granularity)
	kind, err := model.NewResourceType(scriptType, nil)
	if err == nil {
		err = s.Index.CreateResourceType(context.Background(), kind)
	}
	fatal.If(t, err)
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
	for part, v := range partsOf(s.t, fh) {
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
	q, err := s.engine.Queryable(s.granularity).Querier(from, to)
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
	set := q.Querier.Select(ctx, sorted, &shifted, letters(matchers)...)
	if set, ok := set.(*promql.SeriesSet); ok {
		return &scriptSet{set, q.s.shift}
	}
	return set // an error
}

func letters(matchers []*labels.Matcher) []*labels.Matcher {
	var out []*labels.Matcher
	for _, m := range matchers {
		if !strings.HasPrefix(m.Name, "__offset") && !strings.HasPrefix(m.Name, "__quantile") {
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
	*promql.SeriesSet
	shift int64
}

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
	return &scriptSeries{found.(*promql.Series), plain.Labels(), s.shift}
}

type scriptSeries struct {
	*promql.Series
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

// script is a piece of one of upstream's files: series to load, and expressions to evaluate then.
type script struct {
	load  string
	evals []eval
}

type eval struct {
	name string // file:line
	text string
}

// readScripts cuts upstream's files into pieces.
func readScripts(t testing.TB, module string) []script {
	files, err := filepath.Glob(filepath.Join(module, "promql/promqltest/testdata/*.test"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts in", module, err)
	}
	var scripts []script
	for _, file := range files {
		content, err := os.ReadFile(file)
		fatal.If(t, err)
		current := script{}
		finish := func() {
			if len(current.evals) > 0 {
				scripts = append(scripts, current)
			}
		}
		lines := strings.Split(string(content), "\n")
		for i := 0; i < len(lines); {
			line := strings.TrimSpace(lines[i])
			if line == "" || strings.HasPrefix(line, "#") {
				i++
				continue
			}
			from := i
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				if first := strings.Fields(lines[i]); len(lines[i]) > 0 && lines[i][0] != ' ' && lines[i][0] != '\t' &&
					(strings.HasPrefix(first[0], "eval") || strings.HasPrefix(first[0], "load") ||
						first[0] == "clear") {
					break
				}
			}
			text := strings.Join(lines[from:i], "\n") + "\n"
			switch {
			case line == "clear":
				finish()
				current = script{}
			case strings.HasPrefix(line, "load"):
				finish()
				current = script{load: current.load + "\n" + text}
			case strings.HasPrefix(line, "eval"):
				current.evals = append(current.evals, eval{fmt.Sprintf("%s:%d", filepath.Base(file), from+1), text})
			}
		}
		finish()
	}
	return scripts
}

// moduleDir is where upstream's module lies.
func moduleDir(t testing.TB) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus/prometheus").Output()
	fatal.If(t, err)
	return strings.TrimSpace(string(out))
}

// listedScripts is set in the environment of a process of this test that runs only the listed scripts.
const listedScripts = "GNOCCO_LISTED_SCRIPTS"

// Upstream's scripts pass, except the evaluations that testdata/upstream_NAME.txt lists, each with a reason. Listed
// evaluations have to fail.
func TestUpstreamScripts(t *testing.T) {
	scripts := readScripts(t, moduleDir(t))
	for _, mode := range []struct {
		name                 string
		granularity, earlier time.Duration
		least                int // that pass
	}{{"raw", 50 * 365 * 24 * time.Hour, 0, 2394}, {"second", time.Second, time.Second, 2364}} {
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
				engine := s.engine.Upstream()
				run := func(t *testing.T, text string) {
					promqltest.RunTestWithStorage(t, text, engine, func(testing.TB) storage.Storage { return s })
				}
				run(t, piece.load)
				for _, e := range piece.evals {
					switch {
					case onlyListed:
						if differs[e.name] {
							t.Run(e.name, func(t *testing.T) { run(t, e.text) })
						}
					case differs[e.name]:
						delete(differs, e.name)
					case t.Run(e.name, func(t *testing.T) { run(t, e.text) }):
						passed++
					}
				}
				s.stop()
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
