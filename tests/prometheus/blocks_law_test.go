package prometheus_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// randomBlocks are those of a Prometheus that takes samples out of order, and others beside them that overlap: series
// of counters that begin anew, gauges and native histograms of each kind, with NaN, infinities, stale markers, samples
// that were deleted, and two values for one time.
type randomBlocks struct {
	r     *rand.Rand
	dir   string
	start int64 // ms
	hours int

	floats     map[string]map[int64]float64 // of the last block that has the time
	histograms map[string]map[int64]*histogram.FloatHistogram
	labels     map[string]labels.Labels
	parts      map[string]map[int64]float64 // as the archives have them
	replaced   int                          // of these, by another value of a later block
	refused    int                          // samples of times that no archive takes
}

const hourMS = 3600_000

// kinds of a series.
const (
	ofCounter = iota
	ofGauge
	ofHistogram
	ofFloatHistogram
	ofGaugeHistogram
	ofCustomBuckets
	ofAll // one after the other
)

// blockSeries is a series, and what it was last.
type blockSeries struct {
	labels labels.Labels
	kind   int

	v       float64
	schema  int32
	buckets [2]map[int32]float64 // negative and positive ones
	zero    float64
	bounds  []float64
}

func (b *randomBlocks) newSeries() (all []*blockSeries) {
	for kind := range ofAll + 1 {
		for i := range 1 + b.r.IntN(2) {
			set := labels.NewBuilder(labels.FromStrings("__name__", fmt.Sprint("of_", kind), "job", "j", "i", fmt.Sprint(i)))
			if kind == ofCounter {
				set.Set("__name__", "of_0_total")
			}
			if b.r.IntN(4) == 0 {
				set.Set([]string{"a=b", "ü \"x\"", "c{d}", ",e"}[b.r.IntN(4)], "v\n\"\\")
			}
			all = append(all, &blockSeries{labels: set.Labels(), kind: kind, schema: int32(b.r.IntN(5) - 1)})
		}
	}
	return all
}

// next returns the next sample of a series.
func (s *blockSeries) next(r *rand.Rand, ms int64) promtest.Sample {
	kind := s.kind
	if kind == ofAll {
		kind = r.IntN(ofAll)
	}
	if kind > ofGauge {
		return promtest.Sample{MS: ms, Histogram: s.histogram(r, kind)}
	}
	switch n := r.IntN(60); {
	case n == 0:
		return promtest.Sample{MS: ms, Value: math.Float64frombits(value.StaleNaN)}
	case n == 1 && kind == ofGauge:
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, math.Copysign(0, -1)}
		return promtest.Sample{MS: ms, Value: odd[r.IntN(len(odd))]}
	case n < 4 && kind == ofCounter:
		s.v = float64(r.IntN(3)) // begins anew
	case kind == ofCounter:
		s.v += float64(r.IntN(9))
	default:
		s.v = math.Round(100*r.NormFloat64()) / 8
	}
	return promtest.Sample{MS: ms, Value: s.v}
}

func (s *blockSeries) histogram(r *rand.Rand, kind int) *histogram.FloatHistogram {
	if r.IntN(60) == 0 {
		return &histogram.FloatHistogram{Sum: math.Float64frombits(value.StaleNaN)}
	}
	if s.buckets[0] == nil || r.IntN(40) == 0 || kind == ofGaugeHistogram { // begins anew, perhaps by another layout
		if r.IntN(4) == 0 {
			s.schema, s.bounds = int32(r.IntN(5)-1), nil
		}
		s.buckets, s.zero = [2]map[int32]float64{{}, {}}, 0
	}
	if s.bounds == nil {
		s.bounds = []float64{0.5, 1, float64(2 + r.IntN(3))}
	}
	h := &histogram.FloatHistogram{Schema: s.schema, ZeroThreshold: 0.001}
	most := int32(20)
	if kind == ofCustomBuckets {
		h.Schema, h.CustomValues, h.ZeroThreshold, most = histogram.CustomBucketsSchema, s.bounds, 0, 4
	} else if s.zero += float64(r.IntN(2)); kind != ofCustomBuckets {
		h.ZeroCount = s.zero
	}
	if kind == ofGaugeHistogram {
		h.CounterResetHint = histogram.GaugeType
	}
	for side := range s.buckets {
		if side == 1 || kind != ofCustomBuckets && r.IntN(3) == 0 {
			for range r.IntN(4) {
				s.buckets[side][r.Int32N(most)] += float64(1 + r.IntN(5))
			}
		}
	}
	h.Count = h.ZeroCount
	for side, of := range []struct {
		spans  *[]histogram.Span
		counts *[]float64
	}{{&h.NegativeSpans, &h.NegativeBuckets}, {&h.PositiveSpans, &h.PositiveBuckets}} {
		if side == 0 && kind == ofCustomBuckets {
			continue
		}
		before := int32(0)
		for _, i := range slices.Sorted(maps.Keys(s.buckets[side])) {
			if i >= most {
				continue
			}
			*of.spans = append(*of.spans, histogram.Span{Offset: i - before, Length: 1})
			*of.counts = append(*of.counts, s.buckets[side][i])
			before, h.Count = i+1, h.Count+s.buckets[side][i]
		}
	}
	h.Sum = h.Count * 3
	return h
}

// whole is a histogram as integers.
func whole(h *histogram.FloatHistogram) *histogram.Histogram {
	deltas := func(counts []float64) (all []int64) {
		before := 0.0
		for _, c := range counts {
			all, before = append(all, int64(c-before)), c
		}
		return all
	}
	return &histogram.Histogram{CounterResetHint: h.CounterResetHint, Schema: h.Schema, ZeroThreshold: h.ZeroThreshold,
		ZeroCount: uint64(h.ZeroCount), Count: uint64(h.Count), Sum: h.Sum, PositiveSpans: h.PositiveSpans,
		NegativeSpans: h.NegativeSpans, PositiveBuckets: deltas(h.PositiveBuckets),
		NegativeBuckets: deltas(h.NegativeBuckets), CustomValues: h.CustomValues}
}

// write writes the blocks.
func (b *randomBlocks) write(t *testing.T) {
	b.start = 1767225600_000 + hourMS*b.r.Int64N(1000)
	b.hours = 1 + b.r.IntN(9)
	o := tsdb.DefaultOptions()
	o.RetentionDuration, o.OutOfOrderTimeWindow, o.EnableOverlappingCompaction = 0, 1000*hourMS, b.r.IntN(2) == 0
	o.MinBlockDuration = hourMS * (1 + b.r.Int64N(2))
	o.MaxBlockDuration = o.MinBlockDuration
	if b.r.IntN(3) == 0 {
		o.FloatChunkEncoding, o.EnableSTStorage, o.EnableHistogramSTEncoding = chunkenc.EncXOR2, true, true
	}
	quiet := slog.New(slog.DiscardHandler)
	db, err := tsdb.Open(t.TempDir(), quiet, nil, o, nil)
	fatal.If(t, err)
	db.DisableCompactions()
	all := b.newSeries()
	steps := int64(b.hours) * hourMS / 20_000
	to := db.Appender(t.Context())
	appended := 0
	add := func(s *blockSeries, sample promtest.Sample) {
		if h := sample.Histogram; h == nil {
			_, err = to.Append(0, s.labels, sample.MS, sample.Value)
		} else if s.kind == ofHistogram {
			_, err = to.AppendHistogram(0, s.labels, sample.MS, whole(h), nil)
		} else {
			_, err = to.AppendHistogram(0, s.labels, sample.MS, nil, h)
		}
		if err == nil {
			appended++
		}
	}
	for i := range steps {
		for _, s := range all {
			at := b.start + i*20_000 + 1 + b.r.Int64N(9_999)
			if b.r.IntN(20) == 0 { // out of order
				at -= 20_000 * b.r.Int64N(i+1)
			}
			add(s, s.next(b.r, at))
		}
		if b.r.IntN(50) == 0 {
			fatal.If(t, to.Commit())
			to = db.Appender(t.Context())
		}
	}
	fatal.If(t, to.Commit())
	db.EnableCompactions()
	fatal.If(t, db.Compact(t.Context()), db.CompactOOOHead(t.Context()))
	b.dir = filepath.Join(t.TempDir(), "snapshot")
	fatal.If(t, db.Snapshot(b.dir, true), db.Close())
	entries, err := os.ReadDir(b.dir)
	fatal.If(t, err)
	for range b.r.IntN(4) {
		block, err := tsdb.OpenBlock(quiet, filepath.Join(b.dir, entries[b.r.IntN(len(entries))].Name()), nil, nil)
		fatal.If(t, err)
		from := block.Meta().MinTime + b.r.Int64N(1800_000)
		fatal.If(t, block.Delete(t.Context(), from, from+b.r.Int64N(1800_000),
			labels.MustNewMatcher(labels.MatchRegexp, "__name__", "of_["+fmt.Sprint(b.r.IntN(7))+"-6].*")), block.Close())
	}
	for range b.r.IntN(3) {
		b.beside(t, all)
	}
	b.read(t)
	if appended == 0 || len(b.floats) == 0 || len(b.histograms) == 0 {
		t.Fatal("no samples")
	}
}

// beside writes another block of series, some of whose times the blocks have as well.
func (b *randomBlocks) beside(t *testing.T, all []*blockSeries) {
	var some []storage.Series
	base, shift := b.start+hourMS*b.r.Int64N(int64(b.hours)), b.r.Int64N(2)
	if b.r.IntN(4) == 0 {
		base = -hourMS / 2 // half of it before 1970
	}
	for _, s := range all {
		if s.kind == ofAll || s.kind == ofHistogram {
			continue
		}
		var samples []chunks.Sample
		had := slices.Sorted(maps.Keys(b.times(t, s)))
		for ms := base + 1 + b.r.Int64N(9_999); ms < base+hourMS; ms += 20_000 {
			at := ms
			i, _ := slices.BinarySearch(had, ms)
			if shift == 0 && i < len(had) && had[i] < base+hourMS && had[i] > base {
				if at = had[i]; len(samples) > 0 && samples[len(samples)-1].T() >= at {
					continue
				}
			}
			samples = append(samples, s.next(b.r, at))
		}
		if len(samples) > 0 {
			some = append(some, storage.NewListSeries(s.labels, samples))
		}
	}
	_, err := tsdb.CreateBlock(some, b.dir, 0, slog.New(slog.DiscardHandler))
	fatal.If(t, err)
}

// times returns those that the blocks have of a series.
func (b *randomBlocks) times(t *testing.T, s *blockSeries) map[int64]bool {
	b.read(t)
	found := map[int64]bool{}
	for ms := range b.floats[s.labels.String()] {
		found[ms] = true
	}
	for ms := range b.histograms[s.labels.String()] {
		found[ms] = true
	}
	return found
}

// read reads what the blocks hold, by Prometheus' own reader of a block.
func (b *randomBlocks) read(t *testing.T) {
	b.floats, b.histograms = map[string]map[int64]float64{}, map[string]map[int64]*histogram.FloatHistogram{}
	b.labels, b.parts, b.replaced, b.refused = map[string]labels.Labels{}, map[string]map[int64]float64{}, 0, 0
	entries, err := os.ReadDir(b.dir)
	fatal.If(t, err)
	for _, entry := range entries {
		block, err := tsdb.OpenBlock(slog.New(slog.DiscardHandler), filepath.Join(b.dir, entry.Name()), nil, nil)
		fatal.If(t, err)
		q, err := tsdb.NewBlockQuerier(block, math.MinInt64, math.MaxInt64)
		fatal.If(t, err)
		set := q.Select(t.Context(), true, nil, labels.MustNewMatcher(labels.MatchNotEqual, "__name__", ""))
		for set.Next() {
			key := set.At().Labels().String()
			if b.labels[key] = set.At().Labels(); b.floats[key] == nil {
				b.floats[key], b.histograms[key] = map[int64]float64{}, map[int64]*histogram.FloatHistogram{}
			}
			samples := set.At().Iterator(nil)
			for kind := samples.Next(); kind != chunkenc.ValNone; kind = samples.Next() {
				b.sample(t, key, kind, samples)
			}
			fatal.If(t, samples.Err())
		}
		fatal.If(t, set.Err(), q.Close(), block.Close())
	}
}

func (b *randomBlocks) sample(t *testing.T, key string, kind chunkenc.ValueType, samples chunkenc.Iterator) {
	set := func(part string, ms int64, v float64) {
		if b.parts[key+part] == nil {
			b.parts[key+part] = map[int64]float64{}
		}
		if before, ok := b.parts[key+part][ms]; ok && math.Float64bits(before) != math.Float64bits(v) {
			b.replaced++
		}
		b.parts[key+part][ms] = v
	}
	if kind == chunkenc.ValFloat {
		switch ms, v := samples.At(); {
		case value.IsStaleNaN(v):
		case ms < 0:
			b.refused++
		default:
			set("", ms, v)
			b.floats[key][ms] = v
		}
		return
	}
	switch ms, h := samples.AtFloatHistogram(nil); {
	case value.IsStaleNaN(h.Sum):
	case ms < 0:
		b.refused++
	default:
		parts := promtest.Parts(t, h)
		if before := b.histograms[key][ms]; before != nil {
			for part := range promtest.Parts(t, before) {
				if _, ok := parts[part]; !ok {
					b.replaced++
					delete(b.parts[key+part], ms)
				}
			}
		}
		for part, v := range parts {
			set(part, ms, v)
		}
		b.histograms[key][ms] = h
	}
}

// keeps are the groups of the archive policies of series: for how long, and how wide.
var keeps = []struct{ span, width int64 }{{24 * hourMS, 10_000}, {31 * 24 * hourMS, 60_000},
	{730 * 24 * hourMS, hourMS}}

// lost returns how many measures the archives do not have each by itself.
func (b *randomBlocks) lost() int {
	n := b.refused + b.replaced
	for _, of := range b.parts {
		if len(of) == 0 {
			continue
		}
		newest, groups := slices.Max(slices.Collect(maps.Keys(of))), map[[2]int64]bool{}
		for ms := range of {
			i := slices.IndexFunc(keeps, func(k struct{ span, width int64 }) bool {
				return ms >= newest/k.width*k.width-k.span+k.width
			})
			if i < 0 || groups[[2]int64{int64(i), ms / keeps[i].width}] {
				n++ // too old, or one of several
				continue
			}
			groups[[2]int64{int64(i), ms / keeps[i].width}] = true
		}
	}
	return n
}

// push sends what the blocks hold by remote write.
func (b *randomBlocks) push(t *testing.T, s *blockServer, user string) {
	var request prompb.WriteRequest
	for _, key := range slices.Sorted(maps.Keys(b.labels)) {
		one := prompb.TimeSeries{Labels: prompb.FromLabels(b.labels[key], nil)}
		for _, ms := range slices.Sorted(maps.Keys(b.floats[key])) {
			one.Samples = append(one.Samples, prompb.Sample{Value: b.floats[key][ms], Timestamp: ms})
		}
		for _, ms := range slices.Sorted(maps.Keys(b.histograms[key])) {
			one.Histograms = append(one.Histograms, prompb.FromFloatHistogram(ms, b.histograms[key][ms]))
		}
		request.Timeseries = append(request.Timeseries, one)
	}
	body, err := request.Marshal()
	fatal.If(t, err)
	if text := s.as(user, http.MethodPost, "/api/v1/write", s2.EncodeSnappy(nil, body)); len(text) > 0 {
		t.Fatalf("remote write: %s", text)
	}
}

// blockServer is a gnocco that runs.
type blockServer struct {
	t        *testing.T
	programs string
	url      string
}

func startBlockServer(t *testing.T) *blockServer {
	programs, err := testprogram.Build("gnocco", "gnocco-import")
	fatal.If(t, err)
	command := testprogram.EndWithTest(exec.Command(filepath.Join(programs, "gnocco"), "serve", "--init", "--listen",
		"127.0.0.1:0", "--min-free-bytes", "1MiB", "--lease-ttl", "1m", "--data", filepath.Join(t.TempDir(), "data")))
	log, err := command.StderrPipe()
	fatal.If(t, err, command.Start())
	t.Cleanup(func() { _, _ = command.Process.Kill(), command.Wait() })
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		fatal.If(t, err)
		if _, after, ok := strings.Cut(line, "msg=serving url="); ok {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return &blockServer{t, programs, strings.Fields(after)[0]}
		}
	}
}

// as makes a request of a user, and returns the body of the answer.
func (s *blockServer) as(user, method, path string, body []byte) string {
	s.t.Helper()
	request, err := http.NewRequest(method, s.url+path, bytes.NewReader(body))
	fatal.If(s.t, err)
	request.SetBasicAuth(user, "")
	if path == "/api/v1/write" {
		request.Header.Set("Content-Encoding", "snappy")
		request.Header.Set("Content-Type", "application/x-protobuf")
	}
	response, err := http.DefaultClient.Do(request)
	fatal.If(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fatal.If(s.t, err)
	return string(text)
}

// shown returns all series of a user, and answers to queries.
func (s *blockServer) shown(user string, queries []string) map[string]string {
	s.t.Helper()
	shown := map[string]string{}
	const page = 1000
	for marker, more := "", true; more; {
		var metrics []struct {
			ID, Creator string
			Labels      map[string]string
			Type        string
			Guess       string                `json:"type_guess"`
			Policy      struct{ Name string } `json:"archive_policy"`
		}
		list := s.as(user, http.MethodGet, fmt.Sprint("/v1/metric?limit=", page, marker), nil)
		fatal.If(s.t, json.Unmarshal([]byte(list), &metrics))
		for _, m := range metrics {
			if marker = "&marker=" + m.ID; m.Creator == user {
				s.as(user, http.MethodGet, "/v1/metric/"+m.ID+"/measures?refresh=true&limit=1", nil)
				shown[fmt.Sprint(m.Labels)] = fmt.Sprint(m.Type, " ", m.Guess, " ", m.Policy)
			}
		}
		more = len(metrics) == page
	}
	for _, query := range queries {
		text := s.as(user, http.MethodGet, query, nil)
		var answer struct {
			Status          string
			Data            struct{ Result []json.RawMessage }
			Infos, Warnings []string
		}
		fatal.If(s.t, json.Unmarshal([]byte(text), &answer))
		slices.SortFunc(answer.Data.Result, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
		shown[query] = fmt.Sprintf("%s %s %v %v", answer.Status, answer.Data.Result, answer.Infos, answer.Warnings)
	}
	return shown
}

// queries returns the paths of random ones, about all that the blocks hold.
func (b *randomBlocks) queries() (paths []string) {
	for _, form := range []string{"rate(%s[%s])", "increase(%s[%s])", "resets(%s[%s])", "count_over_time(%s[%s])",
		"sum_over_time(%s[%s])", "max_over_time(%s[%s])", "last_over_time(%s[%s])", "changes(%s[%s])", "irate(%s[%s])",
		"delta(%s[%s])", "histogram_quantile(0.9, rate(%s[%s]))", "histogram_count(increase(%s[%s]))",
		"avg_over_time(%s[%s])"} {
		for kind := range ofAll + 1 {
			at := b.start/1000 + b.r.Int64N(int64(b.hours)*3600)
			length := []string{"1m", "5m", "17m", "1h", "2h"}[b.r.IntN(5)]
			if b.r.IntN(2) == 0 {
				at, length = at/3600*3600, []string{"1h", "2h"}[b.r.IntN(2)]
			}
			expr := fmt.Sprintf(form, fmt.Sprintf(`{__name__=~"of_%d.*"}`, kind), length)
			paths = append(paths, fmt.Sprintf("/api/v1/query?time=%d&query=%s", at, url.QueryEscape(expr)))
		}
	}
	return paths
}

var lostOfFile = []*regexp.Regexp{regexp.MustCompile(`rejected (\d+),`), regexp.MustCompile(`dropped by the server (\d+),`),
	regexp.MustCompile(`, refused (\d+)`), regexp.MustCompile(`(\d+) measures? replaced: a later block`)}

var keptOfFile = regexp.MustCompile(`archive policy (\S+) keeps (\d+) of (\d+) measures`)

// told returns how many measures are lost, as the command said.
func told(t *testing.T, stderr string) (n int) {
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		fatal.If(t, err)
		return n
	}
	for _, count := range lostOfFile {
		for _, m := range count.FindAllStringSubmatch(stderr, -1) {
			n += number(m[1])
		}
	}
	merged := map[string]int{} // by the policy: the last word counts
	for _, m := range keptOfFile.FindAllStringSubmatch(stderr, -1) {
		merged[m[1]] = number(m[3]) - number(m[2])
	}
	for _, of := range merged {
		n += of
	}
	return n
}

// Blocks become the series that remote write of the same samples makes: by their labels, types, archive policies and
// answers. Each sample is stored, or counted in what the command says, and then the exit status is 2.
func TestBlocksArePushedSeries(t *testing.T) {
	s := startBlockServer(t)
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	seed := seedtest.Next(t)
	for i := range rounds {
		b := &randomBlocks{r: rand.New(rand.NewPCG(seed, uint64(i)))}
		b.write(t)
		imports, pushes := fmt.Sprint("imports", i), fmt.Sprint("pushes", i)
		command := exec.Command(filepath.Join(s.programs, "gnocco"), "import", "blocks", "--url", s.url, "--user", imports,
			b.dir)
		out, err := command.CombinedOutput()
		lost, said, status := b.lost(), told(t, string(out)), command.ProcessState.ExitCode()
		if said != lost || status != 2*min(lost, 1) {
			t.Errorf("status %d (%v), %d of %d lost measures told (%d refused, %d replaced): %s", status, err, said, lost,
				b.refused, b.replaced, out)
		}
		b.push(t, s, pushes)
		queries := b.queries()
		want, got := s.shown(pushes, queries), s.shown(imports, queries)
		for what := range want {
			if got[what] != want[what] {
				t.Errorf("%s: %s of imported blocks, and %s of pushed series", what, got[what], want[what])
			}
		}
		for what := range got {
			if _, ok := want[what]; !ok {
				t.Errorf("series %s is imported, and not pushed", what)
			}
		}
		if t.Failed() {
			return
		}
	}
}
