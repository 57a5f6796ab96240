package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/prompb"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	pairSeries = flag.Int("pair.series", 0, "series of TestPairCosts; 0: it is skipped")
	pairAge    = flag.Duration("pair.age", time.Hour, "for how long the senders of TestPairCosts send, in their time")
	pairPace   = flag.Duration("pair.pace", time.Second, "how long half an hour of that takes at least")
	pairChunk  = flag.Int("pair.chunk", 1, "scrapes in one request of TestPairCosts")
)

const (
	pairInterval = 15 * time.Second
	pairAtOnce   = 2_000 // samples in a request of Prometheus
)

// pairCost is what a server spends on senders.
type pairCost struct {
	cpu                time.Duration
	raw, groups, files int64 // bytes
}

// A pair costs little more bytes than one sender, in a server with default settings: TestBytesOfPairs is this without
// one. Its CPU is logged: most of it is the start. The checkpoints are as far apart in the senders' time as by default.
func TestPairCosts(t *testing.T) {
	if *pairSeries == 0 {
		t.Skip("a measurement: see -pair.series")
	}
	withoutCredentials(t)
	idle, one, pair := costOfSenders(t, 0), costOfSenders(t, 1), costOfSenders(t, 2)
	ratio := func(a, b int64) float64 { return float64(a) / float64(b) }
	spent := ratio(int64(pair.cpu-idle.cpu), int64(one.cpu-idle.cpu))
	kept := ratio(pair.raw+pair.groups, one.raw+one.groups)
	per := float64(*pairSeries) * float64(*pairAge/pairInterval)
	t.Logf("%d series for %v: CPU %v of one sender, %v of two, without the start: %.2f times, %.2f and %.2f µs a scrape",
		*pairSeries, *pairAge, one.cpu, pair.cpu, spent, float64((one.cpu-idle.cpu).Microseconds())/per,
		float64((pair.cpu-idle.cpu).Microseconds())/per)
	n := int64(min(*pairSeries, 1000))
	t.Logf("bytes a series: measures %d and %d, groups %d and %d, together %.3f times; files %d and %d KiB", one.raw/n,
		pair.raw/n, one.groups/n, pair.groups/n, kept, one.files>>10, pair.files>>10)
	if kept > 1.2 { // of a few minutes' splits, parts lie side by side
		t.Errorf("%.3f times the bytes", kept)
	}
}

func costOfSenders(t *testing.T, senders int) (cost pairCost) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data, "--checkpoint-interval", pairPace.String(), "--replica-labels", "__replica__")
	begin := time.Now().Add(-*pairAge).Truncate(pairInterval)
	scrapes, perHalf := int(*pairAge/pairInterval), int(30*time.Minute/pairInterval)
	random := rand.New(rand.NewPCG(5, 7))
	for at := 0; at < scrapes; at += *pairChunk {
		until := time.Now().Add(*pairPace * time.Duration(*pairChunk) / time.Duration(perHalf))
		for replica := range senders {
			var request prompb.WriteRequest
			for i := range *pairSeries {
				// a target has its phase, another one for each replica
				phase := time.Duration((i/100*37+replica*7_000)%15_000) * time.Millisecond
				one := prompb.TimeSeries{Labels: []prompb.Label{{Name: "__name__", Value: fmt.Sprint("gauge_", i%20)},
					{Name: "__replica__", Value: string(rune('a' + replica))}, {Name: "instance", Value: fmt.Sprint("host-", i)}}}
				if i%2 == 1 {
					one.Labels[0].Value = fmt.Sprintf("counter_%d_total", i%20)
				}
				for k := at; k < min(scrapes, at+*pairChunk); k++ {
					taken := time.Duration(k)*pairInterval + phase
					v := float64(int(taken.Seconds()*float64(i%50)) / 7)
					if i%2 == 0 {
						v = float64(i) + float64(random.IntN(1000))/10
					}
					one.Samples = append(one.Samples, prompb.Sample{Timestamp: begin.Add(taken).UnixMilli(), Value: v})
				}
				request.Timeseries = append(request.Timeseries, one)
				if len(request.Timeseries)**pairChunk >= pairAtOnce || i+1 == *pairSeries {
					body, err := request.Marshal()
					fatal.If(t, err)
					s.write(s2.EncodeSnappy(nil, body))
					request.Timeseries = request.Timeseries[:0]
				}
			}
		}
		time.Sleep(time.Until(until))
	}
	if senders > 0 {
		var metrics []struct{ ID string }
		s.call(http.MethodGet, "/v1/metric?limit=1000", "", http.StatusOK, &metrics)
		if len(metrics) != min(*pairSeries, 1000) {
			t.Fatalf("%d metrics of %d series", len(metrics), *pairSeries)
		}
		time.Sleep(2 * *pairPace) // until all is in checkpoints
		for _, m := range metrics {
			var size struct {
				Bytes int64
				Raw   struct{ Bytes int64 }
			}
			s.call(http.MethodGet, "/v1/metric/"+m.ID+"/archive?refresh=true", "", http.StatusOK, &size)
			cost.raw, cost.groups = cost.raw+size.Raw.Bytes, cost.groups+size.Bytes-size.Raw.Bytes
		}
	}
	s.end(syscall.SIGTERM)
	cost.cpu = s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	fatal.If(t, filepath.WalkDir(filepath.Join(data, "sacks"), func(path string, entry os.DirEntry, err error) error {
		if info, fault := os.Stat(path); err == nil && fault == nil && !entry.IsDir() && strings.HasSuffix(path, ".sst") {
			cost.files += info.Size()
		}
		return err
	}))
	return cost
}

// write sends a request of remote write.
func (s *served) write(body []byte) {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/write", strings.NewReader(string(body)))
	fatal.If(s.t, err)
	request.SetBasicAuth("admin", "")
	request.Header.Set("Content-Encoding", "snappy")
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	response, err := http.DefaultClient.Do(request)
	fatal.If(s.t, err, response.Body.Close())
	if response.StatusCode != http.StatusNoContent {
		s.t.Fatal(response.Status)
	}
}
