package main_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
)

const (
	blocksFrom = 1767225600_000 // 2026-01-01, in milliseconds
	hourMS     = 3600_000
	dayMS      = 24 * hourMS
)

type blockSample struct {
	ms int64
	v  float64
}

// aggregateChunk is one that Thanos writes: five parts, each a length, an encoding and data.
type aggregateChunk struct {
	chunkenc.Chunk
	data []byte
}

func (c aggregateChunk) Bytes() []byte               { return c.data }
func (c aggregateChunk) Encoding() chunkenc.Encoding { return 0xff }

func xorChunk(t *testing.T, samples []blockSample) chunkenc.Chunk {
	t.Helper()
	chunk := chunkenc.NewXORChunk()
	to, err := chunk.Appender()
	fatal.If(t, err)
	for _, s := range samples {
		to.Append(0, s.ms, s.v)
	}
	return chunk
}

// downsampled makes chunks of groups of a width, 50 each.
func downsampled(t *testing.T, samples []blockSample, width int64) (metas []chunks.Meta) {
	t.Helper()
	for len(samples) > 0 {
		end := samples[0].ms/width*width + 50*width
		n := 0
		for n < len(samples) && samples[n].ms < end {
			n++
		}
		part := samples[:n]
		samples = samples[n:]
		var parts [5][]blockSample
		parts[4] = part[:1:1]
		total, last := part[0].v, part[n-1]
		for from := 0; from < n; {
			group := part[from].ms / width
			to, sum, low, high := from, 0.0, math.Inf(1), math.Inf(-1)
			for ; to < n && part[to].ms/width == group; to++ {
				v := part[to].v
				sum, low, high = sum+v, min(low, v), max(high, v)
				if to > 0 {
					if before := part[to-1].v; v < before {
						total += v
					} else {
						total += v - before
					}
				}
			}
			at := min((group+1)*width-1, last.ms)
			for i, v := range []float64{float64(to - from), sum, low, high, total} {
				parts[i] = append(parts[i], blockSample{at, v})
			}
			from = to
		}
		parts[4] = append(parts[4], blockSample{parts[0][len(parts[0])-1].ms, last.v})
		var data []byte
		for _, p := range parts {
			chunk := xorChunk(t, p)
			data = binary.AppendUvarint(data, uint64(len(chunk.Bytes())))
			data = append(append(data, byte(chunk.Encoding())), chunk.Bytes()...)
		}
		metas = append(metas, chunks.Meta{Chunk: aggregateChunk{data: data}, MinTime: part[0].ms, MaxTime: last.ms})
	}
	return metas
}

// writeBlock writes a block of these series; a width of 0 keeps samples.
func writeBlock(t *testing.T, folder string, series map[string][]blockSample, from, to, width int64) {
	t.Helper()
	var all []promtest.BlockSeries
	for name, samples := range series {
		var within []blockSample
		for _, s := range samples {
			if s.ms >= from && s.ms < to {
				within = append(within, s)
			}
		}
		var metas []chunks.Meta
		if width > 0 {
			metas = downsampled(t, within, width)
		} else {
			for part := range slices.Chunk(within, 120) {
				metas = append(metas, chunks.Meta{Chunk: xorChunk(t, part), MinTime: part[0].ms,
					MaxTime: part[len(part)-1].ms})
			}
		}
		all = append(all, promtest.BlockSeries{Labels: labels.FromStrings("__name__", name, "job", "a"), Chunks: metas})
	}
	promtest.WriteBlock(t, folder, fmt.Sprintf(`{"thanos":{"labels":{"replica":"r"},"downsample":{"resolution":%d}}}`, width),
		all...)
}

// Thanos' aggregates of an hour and of 5 minutes become groups, beside the samples of later blocks.
func TestImportBlocksOfAggregates(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	random := rand.New(rand.NewPCG(7, 7))
	series := make(map[string][]blockSample)
	total := 40.0
	for ms := int64(blocksFrom + 7_000); ms < blocksFrom+5*dayMS; ms += 15_000 {
		crash := 0.002
		if of := (ms - blocksFrom) % dayMS; of > 6*hourMS && of < 7*hourMS {
			crash = 0.1 // again and again
		}
		if total += float64(random.IntN(20)); random.Float64() < crash {
			total = float64(random.IntN(5))
		}
		series["reqs_total"] = append(series["reqs_total"], blockSample{ms, total})
		series["steady"] = append(series["steady"], blockSample{ms, 3})
		series["temp"] = append(series["temp"], blockSample{ms, float64(random.IntN(400)) / 10})
	}
	dir := t.TempDir()
	for _, b := range []struct{ from, to, width int64 }{{0, 2 * dayMS, hourMS},
		{2 * dayMS, 4*dayMS + 2*hourMS, 300_000}, {4 * dayMS, 5 * dayMS, 0}} {
		folder := filepath.Join(dir, strconv.FormatInt(b.from, 10))
		writeBlock(t, folder, series, blocksFrom+b.from, blocksFrom+b.to, b.width)
	}
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	s.call(http.MethodPost, "/v1/archive_policy", `{"name":"thanos","back_window":1,"definition":[
		{"granularity":"15s","timespan":"3d"},{"granularity":"5m","timespan":"60d"},
		{"granularity":"1h","timespan":"400d"}],
		"aggregation_methods":["mean","min","max","sum","count","std","first","last","increase","resets","95pct"]}`,
		http.StatusCreated, nil)
	for range 2 { // again changes nothing
		_, stderr, status := run(t, "", "import", "blocks", "--url", s.url, "--archive-policy", "thanos", dir)
		// Two hours of each series are there as samples. 98 groups of an hour and 600 of 5 minutes are put.
		if status != 0 || !strings.Contains(stderr, "sent 17280 measures of 3 metrics from 3 files") ||
			!strings.Contains(stderr, "put 2094 groups of aggregates; left 6 periods as before, in which metrics have other measures") {
			t.Fatalf("status %d, %s", status, stderr)
		}
		checkAggregates(t, s, series)
	}
}

func checkAggregates(t *testing.T, s *served, series map[string][]blockSample) {
	t.Helper()
	between := func(name string, from, to int64) (values []float64) {
		for _, sample := range series[name] {
			if sample.ms >= from && sample.ms < to {
				values = append(values, sample.v)
			}
		}
		return values
	}
	query := func(expression string, at, step int64) []float64 {
		var answer struct {
			Data struct {
				Result []struct {
					Values [][2]any
				}
			}
		}
		s.call(http.MethodGet, fmt.Sprintf("/api/v1/query_range?query=%s&start=%d&end=%d&step=%d", expression,
			(blocksFrom+step*1000)/1000, at/1000, step), "", http.StatusOK, &answer)
		if len(answer.Data.Result) != 1 {
			t.Fatalf("%s: %d series", expression, len(answer.Data.Result))
		}
		var values []float64
		for _, v := range answer.Data.Result[0].Values {
			f, err := strconv.ParseFloat(v[1].(string), 64)
			fatal.If(t, err)
			values = append(values, f)
		}
		return values
	}
	for function, of := range map[string]func([]float64) float64{
		"count_over_time": func(v []float64) float64 { return float64(len(v)) },
		"sum_over_time":   sumOf,
		"avg_over_time":   func(v []float64) float64 { return sumOf(v) / float64(len(v)) },
		"max_over_time":   func(v []float64) float64 { return extreme(v, 1) },
		"min_over_time":   func(v []float64) float64 { return extreme(v, -1) },
	} {
		for name := range series {
			for _, hours := range []int64{1, 24} {
				got := query(fmt.Sprintf("%s(%s[%dh])", function, name, hours), blocksFrom+5*dayMS, hours*3600)
				if len(got) != int(5*24/hours) {
					t.Errorf("%s(%s[%dh]): %d values", function, name, hours, len(got))
				}
				for i, v := range got {
					from := blocksFrom + int64(i)*hours*hourMS
					want := of(between(name, from, from+hours*hourMS))
					if math.Abs(v-want) > 1e-12*math.Abs(want) {
						t.Errorf("%s(%s[%dh]), %d.: %v, want %v", function, name, hours, i, v, want)
					}
				}
			}
		}
	}
	gained := func(from, to int64) (sum float64) {
		all := series["reqs_total"]
		for i := 1; i < len(all); i++ {
			if all[i].ms < from || all[i].ms >= to {
				continue
			}
			if sum += all[i].v; all[i].v >= all[i-1].v {
				sum -= all[i-1].v
			}
		}
		return sum
	}
	// PromQL extrapolates, and sees no step into the first group.
	for i, v := range query("increase(reqs_total[1d])", blocksFrom+5*dayMS, 24*3600) {
		from := blocksFrom + int64(i)*dayMS
		if want := gained(from, from+dayMS); math.Abs(v-want) > 0.005*want {
			t.Errorf("increase of day %d: %v, want %v", i, v, want)
		}
	}
	for i, v := range query("rate(reqs_total[1h])", blocksFrom+5*dayMS, 3600) {
		from := blocksFrom + int64(i)*hourMS
		if want := gained(from, from+hourMS) / 3600; math.Abs(v-want) > 0.02*want {
			t.Errorf("rate of hour %d: %v, want %v", i, v, want)
		}
	}
	for granularity, first := range map[int64]int64{3600: 0, 300: 2 * dayMS} {
		for name, about := range map[string]string{"reqs_total": "increase", "steady": "95pct", "temp": "mean"} {
			var found []struct{ ID string }
			s.call(http.MethodGet, "/v1/metric?labels.__name__="+name, "", http.StatusOK, &found)
			rows := strings.Split(s.measures(fmt.Sprintf("/v1/metric/%s/measures?aggregation=%s&granularity=%d", found[0].ID,
				about, granularity)), "\n")
			for i, row := range rows {
				fields := strings.Fields(row)
				from := blocksFrom + first + int64(i)*granularity*1000
				var want float64
				switch name {
				case "reqs_total":
					if want = gained(from, from+granularity*1000); i == 0 && first > 0 { // there is no group before
						want -= gained(from, from+15_000)
					}
				case "steady":
					want = 3
				default:
					of := between(name, from, from+granularity*1000)
					want = sumOf(of) / float64(len(of))
				}
				if got, err := strconv.ParseFloat(fields[2], 64); err != nil || math.Abs(got-want) > 1e-12*want {
					t.Errorf("%s of %s, %d s, %d.: %s, want %v", about, name, granularity, i, row, want)
				}
			}
			if want := (5*dayMS - first) / granularity / 1000; int64(len(rows)) != want {
				t.Errorf("%s of %s, %d s: %d groups, want %d", about, name, granularity, len(rows), want)
			}
		}
	}
}

func sumOf(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

func extreme(values []float64, sign float64) float64 {
	most := math.Inf(-1)
	for _, v := range values {
		most = max(most, sign*v)
	}
	return sign * most
}
