package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// State is what a server has done before it is asked.
type State string

// The states. A server that runs already is asked as it is, which counts as restarted.
const (
	Restarted State = "restarted" // everything lies in archives
	Operands  State = "operands"  // it made many checkpoints, which nothing has compacted yet
	Heads     State = "heads"     // loaded a moment ago, so most measures are in heads
	Loaded    State = "load"      // the same, and measures come in at a third of the rate of which it is capable
)

// States are all of them.
var States = []State{Restarted, Operands, Heads, Loaded}

// ParseStates reads a list of states; empty means all.
func ParseStates(names []string) ([]State, error) {
	if len(names) == 0 {
		return States, nil
	}
	var states []State
	for _, name := range names {
		if !slices.Contains(States, State(name)) {
			return nil, fmt.Errorf("bench: state %q: want some of %v", name, States)
		}
		states = append(states, State(name))
	}
	return states, nil
}

// statesOf are those that the server to be measured can be brought into.
func (o *Options) statesOf(states []State) []State {
	if o.URL != "" || len(states) == 0 {
		return []State{Restarted}
	}
	return states
}

// suffix is what names of results have of a state.
func (s State) suffix() string {
	if s == Restarted {
		return ""
	}
	return "/state=" + string(s)
}

// checkpointOften makes many operands of the measures of some seconds: the benchmark waits for a sixth of them.
const checkpointOften = "--checkpoint-interval=1200ms"

// startFor starts the server for a state.
func (o *Options) startFor(ctx context.Context, state State) (*server, error) {
	if state != Operands || o.URL != "" {
		return o.start(ctx)
	}
	often := *o
	often.ServeArgs = append(slices.Clone(o.ServeArgs), checkpointOften)
	return often.start(ctx)
}

// enter brings a server that was sent everything into a state.
func (s *server) enter(ctx context.Context, state State) error {
	if state != Restarted || !s.isChild() {
		return nil
	}
	if _, err := s.stop(); err != nil {
		return err
	}
	return s.reopen(ctx)
}

// sendParts sends the workload, so many measures of ten metrics a request, and waits for a checkpoint or two from time
// to time where the state is to have many.
func (s *server) sendParts(ctx context.Context, w *workload, ids []string, measures int, state State) error {
	// One connection: a part must not overtake the one before it, which would then be too old.
	c := newClient(s.options, s.url, 1)
	defer c.close()
	n := len(w.values[0])
	if state == Operands {
		measures = min(measures, max(1, n/operands))
	}
	for from := 0; from < n; from += measures {
		if err := c.send(ctx, w.bodies(ids, Shape{Metrics: 10, Measures: measures}, from,
			min(n, from+measures))); err != nil {
			return err
		}
		if state == Operands {
			if err := pause.For(ctx, checkpointPause); err != nil {
				return err
			}
		}
	}
	return nil
}

// operands is how many parts are sent with checkpoints in between, checkpointPause how long each waits for one.
const (
	operands        = 20
	checkpointPause = 300 * time.Millisecond
)

// Of the load that goes on beside reads.
const (
	loadMetrics     = 1000
	loadMeasures    = 60 // of each in a round
	loadConnections = 2
	loadPerRequest  = 100 // metrics
)

// beside calls f while measures come in, at a third of the rate of which the server was found capable, and tells it how
// much CPU that takes for itself. After the last measures of w, one more of each of its metrics, ids, comes every
// round.
func (s *server) beside(ctx context.Context, w *workload, ids []string, lasts time.Duration,
	f func(perSecond time.Duration) error) error {
	c := newClient(s.options, s.url, setupConnections)
	defer c.close()
	others, err := c.createMetrics(ctx, loadMetrics)
	if err != nil {
		return err
	}
	const burst = 8 // rounds
	fill := newWorkload(s.options.Seed+1, meters[:], loadMetrics, 2*burst*loadMeasures, defaultStep)
	shape := Shape{Metrics: loadPerRequest, Measures: loadMeasures, Connections: loadConnections}
	bodies := fill.bodies(others, shape, 0, 2*burst*loadMeasures)
	sender := newClient(s.options, s.url, loadConnections)
	defer sender.close()
	half := len(bodies) / 2
	started := time.Now()
	if err := sender.send(ctx, bodies[:half]); err != nil {
		return err
	}
	rate := float64(burst*loadMetrics*loadMeasures) / time.Since(started).Seconds()
	// The second half is sent again and again, each time a day later, at the same cost.
	perRound := len(bodies) / 2 / burst
	interval := time.Duration(float64(loadPerRequest*loadMeasures) / (rate / 3) * float64(time.Second))
	s.options.Logger.Info("sending meanwhile", "server", s.name, "measures_per_second", int(rate/3))

	ctx, cancel := context.WithCancelCause(ctx)
	var sending sync.WaitGroup
	sending.Go(func() {
		begun := time.Now()
		last := w.time(len(w.values[0]) - 1)
		for i := 0; ctx.Err() == nil; i++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(begun.Add(time.Duration(i) * interval))):
			}
			body := fill.laterBody(others, i, perRound)
			if i%perRound == 0 {
				last = last.Add(w.step)
				body = oneEach(ids, last)
			}
			if err := sender.sendOne(context.WithoutCancel(ctx), body); err != nil {
				cancel(err)
			}
		}
	})
	m := newMeter(s)
	before, begun := m.read(), time.Now()
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
	}
	perSecond := time.Duration(float64(m.read().cpu-before.cpu) / time.Since(begun).Seconds())
	if err = m.err; err == nil && ctx.Err() == nil {
		err = f(perSecond)
	}
	cause := context.Cause(ctx)
	cancel(nil)
	sending.Wait()
	if cause != nil {
		return cause
	}
	return err
}

// laterBody is the i-th request after the burst, of so many in a round.
func (w *workload) laterBody(ids []string, i, perRound int) []byte {
	from := (i % perRound) * loadPerRequest
	later := &workload{start: w.time(len(w.values[0]) + i/perRound*loadMeasures), step: w.step}
	for s := from; s < from+loadPerRequest; s++ {
		later.values = append(later.values, w.values[s][:loadMeasures])
	}
	return later.bodies(ids[from:from+loadPerRequest], Shape{Metrics: loadPerRequest, Measures: loadMeasures},
		0, loadMeasures)[0]
}

// oneEach is a request of one measure of each metric.
func oneEach(ids []string, at time.Time) []byte {
	var body strings.Builder
	for i, id := range ids {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		body.WriteByte(sep)
		fmt.Fprintf(&body, `%q:[{"timestamp":%q,"value":1}]`, id, at.Format(timestampFormat))
	}
	body.WriteByte('}')
	return []byte(body.String())
}
