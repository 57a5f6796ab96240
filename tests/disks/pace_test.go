package disks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	paceWriters  = 4   // of each API
	paceRequests = 150 // of each writer
	paceMetrics  = 50  // of each writer
	pacePoints   = 20  // of each metric in a request
)

// paced is a writer without pauses.
type paced struct {
	metrics      []string
	sent         int // requests
	acked, doubt int // measures
}

// pace has measures sent as fast as they are acknowledged, and logs their number by second and the time of processors
// that they took until they were in the archives. All of them are there.
func (r *run) pace() {
	t := r.cluster.t
	wait(5)
	r.load.stop()
	begun := r.cpu()
	var writers []*paced
	var all sync.WaitGroup
	first := time.Now()
	for _, api := range r.apis() {
		for range paceWriters {
			w := new(paced)
			for range paceMetrics {
				w.metrics = append(w.metrics, r.create(api))
			}
			writers = append(writers, w)
		}
	}
	start := time.Now()
	for i, w := range writers {
		api := r.apis()[i/paceWriters]
		all.Go(func() {
			for range paceRequests {
				status, _, _ := ask("POST", api.url+"/v1/batch/metrics/measures", w.request())
				if status == http.StatusAccepted {
					w.acked += paceMetrics * pacePoints
				} else {
					w.doubt += paceMetrics * pacePoints
				}
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	r.awaitBacklog()
	var acked, doubt, stored int
	for _, w := range writers {
		acked, doubt, stored = acked+w.acked, doubt+w.doubt, stored+r.stored(w)
	}
	t.Logf("RESULT pace: %.0f measures/s, metrics made in %.1f s, all archived %.1f s later, %.2f CPU s a million, %d in doubt",
		float64(acked)/took.Seconds(), start.Sub(first).Seconds(), time.Since(start.Add(took)).Seconds(),
		1e6*(r.cpu()-begun)/float64(acked), doubt)
	if acked == 0 || stored < acked || stored > acked+doubt {
		t.Errorf("%d measures are stored of %d acknowledged and %d in doubt", stored, acked, doubt)
	}
}

// request is the body of the next request.
func (w *paced) request() string {
	var out strings.Builder
	for i, metric := range w.metrics {
		fmt.Fprintf(&out, `%c"%s":[`, "{,"[min(i, 1)], metric)
		for j := range pacePoints {
			fmt.Fprintf(&out, `%s{"timestamp":%d,"value":%d}`, ","[:min(j, 1)], firstSecond+w.sent*pacePoints+j, j)
		}
		out.WriteByte(']')
	}
	w.sent++
	return out.String() + "}"
}

// stored returns how many of a writer's measures are in the archives.
func (r *run) stored(w *paced) (n int) {
	for _, metric := range w.metrics {
		status, answer, err := askPatiently("GET", fmt.Sprintf("%s/v1/metric/%s/measures?granularity=1&aggregation=count",
			r.apis()[1].url, metric), "")
		var rows [][3]any
		if status != http.StatusOK || json.Unmarshal(answer, &rows) != nil {
			r.cluster.t.Errorf("GET of metric %s: %d %.200s %v", metric, status, answer, err)
		}
		for _, row := range rows {
			n += int(row[2].(float64))
		}
	}
	return n
}

// cpu returns the seconds of processors that the cluster's processes have taken.
func (r *run) cpu() (seconds float64) {
	for _, p := range slices.Concat(r.on(0), r.on(1), r.on(2)) {
		text, err := p.sh("cat /proc/$(cat %s.pid)/stat", p.log)
		_, rest, _ := strings.Cut(text, ") ")
		fields := strings.Fields(rest)
		if err != nil || len(fields) < 13 {
			r.cluster.t.Errorf("processor time of %s: %q %v", p.name, text, err)
			continue
		}
		for _, ticks := range fields[11:13] { // user and system
			n, _ := strconv.Atoi(ticks)
			seconds += float64(n) / 100
		}
	}
	return seconds
}
