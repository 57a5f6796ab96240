package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// FleetOptions say what Fleet sends, and to whom.
type FleetOptions struct {
	Servers     []string      // KIND[@LABEL][=PROGRAM] each, see newFleetKind; nil: one of each kind
	Metrics     int           // in hosts of 20 each; 0: 100,000
	Step        time.Duration // between two measures of a metric; 0: 10 s
	For         time.Duration // the time that measures span; 0: 10 min
	PerRequest  int           // metrics in a request; 0: a hundredth of them
	Pack        int           // measures of a metric in a request; 0: 1
	Past        bool          // measures end now, and are sent as fast as they are taken
	Connections int           // requests at the same time, to each server; 0: 1
	MemoryLimit int64         // bytes, of the servers that have such a setting; 0: 512 MiB
	ReadEvery   time.Duration // between reads; 0: 10 s
}

// EnsureDefaults fills in what was left zero.
func (o *FleetOptions) EnsureDefaults() {
	if len(o.Servers) == 0 {
		o.Servers = []string{"gnocco-lines", "gnocco-json", "victoria", "influxdb", "prometheus"}
	}
	o.Metrics, o.Step, o.For = cmp.Or(o.Metrics, 100_000), cmp.Or(o.Step, 10*time.Second), cmp.Or(o.For, 10*time.Minute)
	o.PerRequest, o.Pack = cmp.Or(o.PerRequest, max(len(meters), o.Metrics/100)), cmp.Or(o.Pack, 1)
	o.Connections = cmp.Or(o.Connections, 1)
	o.MemoryLimit, o.ReadEvery = cmp.Or(o.MemoryLimit, 512<<20), cmp.Or(o.ReadEvery, 10*time.Second)
}

// Validate lists every fault at once.
func (o *FleetOptions) Validate() error {
	var errs []error
	if o.Metrics%len(meters) != 0 || o.PerRequest%len(meters) != 0 {
		const fault = "metrics %d, %d in a request: want whole hosts of %d"
		errs = append(errs, fmt.Errorf(fault, o.Metrics, o.PerRequest, len(meters)))
	}
	if o.Step < time.Second || time.Minute%o.Step != 0 {
		errs = append(errs, fmt.Errorf("step %v: want a part of a minute", o.Step))
	}
	return errors.Join(errs...)
}

// A fleet is the measures of many hosts, and the servers that take them.
type fleet struct {
	*Options
	*FleetOptions
	w       *workload
	folder  string
	servers []*fleetServer
	sent    int // rounds
	turns   atomic.Int64
}

// Fleet sends the same measures of many metrics to several servers at the same time, at the pace at which they arise,
// and reads meanwhile. Then each is killed, started, stopped and started. At the end every server has to answer right;
// after kill -9 only Gnocco, for the others do not promise it.
func Fleet(ctx context.Context, options Options, what FleetOptions) error {
	if options.URL != "" {
		return errors.New("bench: fleet starts servers of its own")
	}
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	if err := what.Validate(); err != nil {
		return fmt.Errorf("bench: fleet: %w", err)
	}
	return options.inFolder(func(folder string) error {
		f := &fleet{Options: &options, FleetOptions: &what, folder: folder}
		defer f.close()
		if err := f.run(ctx); err != nil {
			return fmt.Errorf("bench: fleet: %w", err)
		}
		return nil
	})
}

func (f *fleet) close() {
	for _, s := range f.servers {
		s.close()
	}
}

func (f *fleet) run(ctx context.Context) error {
	for _, text := range f.Servers {
		s, err := newFleetServer(f, text)
		if err != nil {
			f.Logger.Warn("this server is left out", "server", text, "error", err)
			continue
		}
		if err := os.Mkdir(s.folder, 0o755); err != nil {
			return err
		}
		f.servers = append(f.servers, s)
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	// No measure falls on the edge of a minute, to which PromQL's windows belong otherwise than groups do.
	rounds := max(2, int(f.For/f.Step))
	f.w = newWorkload(f.Seed, meters[:], f.Metrics, rounds, f.Step)
	start := time.Now()
	if f.Past {
		start = start.Add(-f.For)
	}
	f.w.start = start.Truncate(time.Minute).Add(f.Step / 2)
	f.Logger.Info("creating metrics", "metrics", f.Metrics)
	f.sent = 1
	for _, s := range f.servers {
		for from := 0; from < f.Metrics; from += f.PerRequest {
			if err := s.kind.create(ctx, s, f.part(from, 0, 1)); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if err := s.kind.discover(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := s.readUsage(); err != nil {
			return err
		}
		s.before = s.usage
	}
	if err := f.feed(ctx, rounds); err != nil {
		return err
	}
	var errs []error // after so long a run, one server's fault does not keep the others' figures
	for _, s := range f.servers {
		err := s.measureEnd(ctx)
		if err == nil {
			err = f.report(s)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
		s.close()
	}
	return errors.Join(errs...)
}

// feed sends all rounds but the first, each spread over its step, and reads from time to time.
func (f *fleet) feed(ctx context.Context, rounds int) error {
	parts := (f.Metrics + f.PerRequest - 1) / f.PerRequest
	f.Logger.Info("sending measures", "measures", f.Metrics*(rounds-1), "servers", len(f.servers))
	begun, read := time.Now(), time.Now()
	var sending errgroup.Group
	sending.SetLimit(f.Connections)
	for round := 1; round < rounds; round += f.Pack {
		for i := range parts {
			if !f.Past {
				since := time.Duration(round-1)*f.Step + f.Step*time.Duration(i)/time.Duration(parts)
				if err := pause.For(ctx, time.Until(begun.Add(since))); err != nil {
					return err
				}
			}
			p := f.part(i*f.PerRequest, round, min(round+f.Pack, rounds))
			sending.Go(func() error { return f.send(ctx, p) })
			if time.Since(read) < f.ReadEvery {
				continue
			}
			if err := sending.Wait(); err != nil {
				return err
			}
			if err := f.readAll(ctx); err != nil {
				return err
			}
			read = time.Now()
		}
		if err := sending.Wait(); err != nil {
			return err
		}
		f.sent = min(round+f.Pack, rounds)
	}
	if !f.Past {
		return pause.For(ctx, time.Until(begun.Add(time.Duration(rounds-1)*f.Step)))
	}
	return nil
}

// inTurn calls do with each server, beginning with the next one: the first finds the processor asleep and its caches
// cold, and needs up to a third more of its time than the last.
func (f *fleet) inTurn(do func(*fleetServer) error) error {
	turn := int(f.turns.Add(1))
	for i := range f.servers {
		s := f.servers[(turn+i)%len(f.servers)]
		if err := do(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// send sends a part to each server, one after the other, and notes how long each takes.
func (f *fleet) send(ctx context.Context, p *fleetPart) error {
	return f.inTurn(func(s *fleetServer) error {
		begun := time.Now()
		if err := s.kind.send(ctx, s, p); err != nil {
			return err
		}
		s.noteSending(time.Since(begun))
		return nil
	})
}

// readAll does each read once at each server.
func (f *fleet) readAll(ctx context.Context) error {
	return f.inTurn(func(s *fleetServer) error { return s.readAll(ctx) })
}

// part is the measures of one request.
func (f *fleet) part(firstMetric, fromRound, toRound int) *fleetPart {
	end := min(firstMetric+f.PerRequest, f.Metrics)
	return &fleetPart{w: f.w, first: firstMetric, end: end, from: fromRound, to: toRound}
}

// minutes are the last hour's whole minutes of which all measures were sent: the start of the first, and that behind
// the last.
func (f *fleet) minutes() (from, to time.Time) {
	to = f.w.time(f.sent - 1).Add(f.Step).Truncate(time.Minute)
	from = f.w.start.Truncate(time.Minute)
	if hour := to.Add(-time.Hour); hour.After(from) {
		from = hour
	}
	return from, to
}

// fleetField is the meter that is read: a gauge.
const fleetField = 1

// hosts returns how many there are, and the numbers of a hundred of them.
func (f *fleet) hosts() (n int, hundred []int) {
	n = f.Metrics / len(meters)
	for i := range min(100, n) {
		hundred = append(hundred, i*n/min(100, n))
	}
	return n, hundred
}

// expected is the mean of the read meter over hosts in the minute.
func (f *fleet) expected(hosts []int, minute time.Time) float64 {
	first := int((minute.Sub(f.w.start) + f.Step - 1) / f.Step)
	end := int((minute.Add(time.Minute).Sub(f.w.start) + f.Step - 1) / f.Step)
	sum := 0.0
	for _, h := range hosts {
		of := 0.0
		for _, v := range f.w.values[h*len(meters)+fleetField][first:end] {
			of += v
		}
		sum += of / float64(end-first)
	}
	return sum / float64(len(hosts))
}

// check tells the first wrong mean of an answer.
func (f *fleet) check(r fleetRead, got map[int64]float64) error {
	n := 0
	for minute := r.from; minute.Before(r.to); minute = minute.Add(time.Minute) {
		want := f.expected(r.hosts, minute)
		if v, ok := got[minute.Unix()]; !ok || math.Abs(v-want) > 1e-9*math.Abs(want) {
			return fmt.Errorf("read %s: %v at %v, want %v", r.name, v, minute.UTC(), want)
		}
		n++
	}
	if n != len(got) {
		return fmt.Errorf("read %s: %d minutes, want %d", r.name, len(got), n)
	}
	return nil
}

func (f *fleet) report(s *fleetServer) error {
	n := float64(f.Metrics * (f.sent - 1))
	figures := []report.Figure{
		report.Of((s.fed.cpu-s.before.cpu-s.readCPU).Seconds()/n*1e6, "cpu-s/Mmeasure"),
		report.Of(float64(s.fed.rss)/(1<<20), "MiB-rss"), report.Of(s.mostRSS/(1<<20), "MiB-rss-max"),
		report.Of(float64(s.fed.written-s.before.written)/n, "B-written/measure"),
		report.Of(float64(s.disk.allocated)/1e6, "MB-disk"),
		report.Of(float64(s.diskStopped.allocated)/1e6, "MB-disk-stopped"),
		report.Of(s.killed.Seconds(), "s-restart-killed"),
		report.Of(s.stopping.Seconds(), "s-stop"),
		report.Of(s.stopped.Seconds(), "s-restart-stopped"),
		report.Of(median(s.sending), "ms-write"),
	}
	for _, name := range fleetReads {
		of := s.reads[name]
		figures = append(figures, report.Of(median(of.wall), "ms-"+name), report.Of(median(of.cpu), "cpu-ms-"+name))
	}
	name := fmt.Sprintf("Fleet/metrics=%d/step=%v/server=%s", f.Metrics, f.Step, s.name)
	return f.Report.Add(name, f.Metrics*(f.sent-1), figures...)
}

// median is in milliseconds.
func median(of []time.Duration) float64 {
	return report.Quantile(of, 0.5).Seconds() * 1000
}
