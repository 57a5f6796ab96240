package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var rounds = flag.Int("rounds", 15, "how often the server is killed")

const (
	connections          = 8
	metricsPerConnection = 12
	measuresPerMetric    = 4 // in a request
	firstSecond          = 1_700_000_000
)

// client is one connection's metrics and what became of the measures sent to them. Measures of a metric are one second
// apart, so that every one is a group of its own at one second.
type client struct {
	metrics  []string
	next     int             // seconds after firstSecond
	acked    map[int]float64 // value sent for a second, to every metric of the client
	inDoubt  map[int]float64 // sent, not answered: there wholly or not at all
	requests []int           // first seconds of the requests in doubt
}

// post sends requests until one fails.
func (c *client) post(s *server, rng *rand.Rand) {
	for {
		var body bytes.Buffer
		values := make([]float64, measuresPerMetric)
		for i := range values {
			values[i] = float64(rng.IntN(1000)) / 4
		}
		body.WriteByte('{')
		for i, id := range c.metrics {
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, "%q:[", id)
			for j, v := range values {
				if j > 0 {
					body.WriteByte(',')
				}
				fmt.Fprintf(&body, `{"timestamp":%d,"value":%v}`, firstSecond+c.next+j, v)
			}
			body.WriteByte(']')
		}
		body.WriteByte('}')
		first := c.next
		c.next += measuresPerMetric
		status, _, err := s.do(context.Background(), http.MethodPost, "/v1/batch/metrics/measures", body.Bytes())
		into := c.acked
		if err != nil || status != http.StatusAccepted {
			into = c.inDoubt
			c.requests = append(c.requests, first)
		}
		for j, v := range values {
			into[first+j] = v
		}
		if err != nil {
			return
		}
		if status != http.StatusAccepted {
			s.t.Errorf("POST answered %d", status)
			return
		}
	}
}

// TestNothingLost posts from several connections, kills the server at a random moment, starts it again, and so on.
// At the end every acknowledged measure counts exactly once, at every granularity, and a request that got no answer is
// there wholly or not at all.
func TestNothingLost(t *testing.T) {
	if testing.Short() && *rounds > 5 {
		*rounds = 5
	}
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	s := newServer(t)
	s.start()
	defer func() { s.kill() }()
	s.mustDo(http.MethodPost, "/v1/archive_policy",
		[]byte(`{"name": "crash", "definition": [{"granularity": 1}, {"granularity": 60}],
		"aggregation_methods": ["count", "sum", "min", "max"]}`), http.StatusCreated)
	clients := make([]*client, connections)
	for i := range clients {
		clients[i] = &client{acked: make(map[int]float64), inDoubt: make(map[int]float64)}
		for range metricsPerConnection {
			var created struct{ ID string }
			answer := s.mustDo(http.MethodPost, "/v1/metric", []byte(`{"archive_policy_name": "crash"}`),
				http.StatusCreated)
			fatal.If(t, json.Unmarshal(answer, &created))
			clients[i].metrics = append(clients[i].metrics, created.ID)
		}
	}
	for range *rounds {
		var posting sync.WaitGroup
		for i, c := range clients {
			rng := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
			posting.Go(func() { c.post(s, rng) })
		}
		time.Sleep(time.Duration(20+rng.IntN(380)) * time.Millisecond)
		s.kill()
		posting.Wait()
		s.start()
	}
	total := 0
	for _, c := range clients {
		total += len(c.acked) * len(c.metrics)
		c.check(s)
	}
	t.Logf("%d measures acknowledged over %d kills", total, *rounds)
	if total == 0 {
		t.Fatal("nothing was acknowledged")
	}
}

// check reads every metric of the client.
func (c *client) check(s *server) {
	s.t.Helper()
	var present map[int]float64
	for _, id := range c.metrics {
		counts := s.aggregates(id, "count", 1)
		sums := s.aggregates(id, "sum", 1)
		if len(counts) != len(sums) {
			s.t.Fatalf("metric %s: %d counts and %d sums", id, len(counts), len(sums))
		}
		missing := missingSeconds(c.acked, counts)
		if len(missing) > 0 {
			s.t.Fatalf("metric %s: %d of %d acknowledged measures are missing, of seconds %v\n%s", id, len(missing),
				len(c.acked), missing, s.log)
		}
		for second, v := range c.acked {
			if counts[second] != 1 || sums[second] != v {
				s.t.Fatalf("metric %s, second %d: acknowledged %v, stored count %v sum %v", id, second, v,
					counts[second], sums[second])
			}
		}
		for second, sum := range sums {
			if v, ok := c.inDoubt[second]; !ok && c.acked[second] != sum || ok && v != sum {
				s.t.Fatalf("metric %s, second %d: stored %v was never sent", id, second, sum)
			}
		}
		for _, first := range c.requests {
			_, want := sums[first]
			for j := range measuresPerMetric {
				if _, got := sums[first+j]; got != want {
					s.t.Fatalf("metric %s: the request at second %d is there in part", id, first)
				}
			}
		}
		if present == nil {
			present = sums
		} else if len(present) != len(sums) {
			s.t.Fatalf("metric %s has %d measures, another of the same requests %d", id, len(sums), len(present))
		}
		// The minute's groups hold what the seconds' do.
		minuteCounts, minuteSums := make(map[int]float64), make(map[int]float64)
		for second, v := range sums {
			minute := (firstSecond+second)/60*60 - firstSecond
			minuteCounts[minute]++
			minuteSums[minute] += v
		}
		for method, want := range map[string]map[int]float64{"count": minuteCounts, "sum": minuteSums} {
			got := s.aggregates(id, method, 60)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				s.t.Fatalf("metric %s: %s by minute is %v, want %v", id, method, got, want)
			}
		}
	}
}

// missingSeconds returns, ascending, those of sent that are not in stored.
func missingSeconds(sent, stored map[int]float64) []int {
	var missing []int
	for second := range sent {
		if _, ok := stored[second]; !ok {
			missing = append(missing, second)
		}
	}
	slices.Sort(missing)
	return missing
}

// aggregates reads all aggregates of a metric by second after firstSecond.
func (s *server) aggregates(id, method string, granularity int) map[int]float64 {
	s.t.Helper()
	answer := s.mustDo(http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&aggregation="+method+"&granularity="+
		strconv.Itoa(granularity), nil, http.StatusOK)
	var rows [][3]any
	if err := json.Unmarshal(answer, &rows); err != nil {
		s.t.Fatal(err)
	}
	aggregates := make(map[int]float64, len(rows))
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, row[0].(string))
		if err != nil {
			s.t.Fatal(err)
		}
		aggregates[int(at.Unix())-firstSecond] = row[2].(float64)
	}
	return aggregates
}
