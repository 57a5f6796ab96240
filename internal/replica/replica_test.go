package replica_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
)

const start = carbonara.Timestamp(1_790_000_000e9)

func at(seconds float64, n replica.Number) carbonara.Timestamp {
	return replica.Mark(start+carbonara.Timestamp(seconds*1e3)*1e6, n)
}

// Numbers come back at every millisecond, and a timestamp of no replica never has one.
func TestNumbersInTimestamps(t *testing.T) {
	for _, name := range []string{"prometheus-0", "prometheus-1", "a", ""} {
		n := replica.NumberOf(name)
		for _, from := range []carbonara.Timestamp{0, start, start + 7e6, start + 123_456_789} {
			marked := replica.Mark(from, n)
			if replica.Of(marked) != n || replica.Plain(marked) != from-from%1e6 || replica.Mark(marked, n) != marked {
				t.Errorf("%q at %d: %d of %d", name, from, marked, replica.Of(marked))
			}
			moved := replica.Mark(marked, 0)
			if replica.Of(moved) != 0 || moved-marked != 1 || replica.Mark(moved, 0) != moved {
				t.Errorf("%d of no replica is at %d", marked, moved)
			}
		}
	}
	for digits := range carbonara.Timestamp(1000) { // microseconds
		if at := start + digits*1000; replica.Of(at) != 0 {
			t.Errorf("%d is a replica's", at)
		}
	}
}

// The law by examples: seconds of replicas 1 and 2, and which count.
func TestLaw(t *testing.T) {
	f := func(name string, of map[replica.Number][]float64, want map[replica.Number][]float64) {
		t.Helper()
		var all, expected []carbonara.Timestamp
		for n, list := range of {
			for _, s := range list {
				all = append(all, at(s, n))
			}
		}
		for n, list := range want {
			for _, s := range list {
				expected = append(expected, at(s, n))
			}
		}
		slices.Sort(all)
		slices.Sort(expected)
		got := counting(all)
		if !slices.Equal(got, expected) {
			t.Errorf("%s: %v count, want %v", name, offsets(got), offsets(expected))
		}
	}
	type m = map[replica.Number][]float64
	every := func(step, from, to float64) (list []float64) {
		for s := from; s < to; s += step {
			list = append(list, s)
		}
		return list
	}
	f("alone", m{2: every(15, 0, 60)}, m{2: every(15, 0, 60)})
	f("both live", m{1: every(15, 0, 600), 2: every(15, 7, 600)}, m{1: every(15, 0, 600)})
	f("half an interval apart", m{1: every(60, 0, 600), 2: every(60, 30, 590)}, m{1: every(60, 0, 600)})
	f("the first dies", m{1: every(15, 0, 60), 2: every(15, 7, 300)}, m{1: every(15, 0, 60), 2: every(15, 67, 300)})
	f("the first comes back", m{1: every(15, 300, 600), 2: every(15, 7, 600)},
		m{1: every(15, 300, 600), 2: every(15, 7, 285)})
	f("six seconds at least", m{1: every(1, 0, 60), 2: every(1, 0.5, 120)}, m{1: every(1, 0, 60), 2: every(1, 65.5, 120)})
	f("an import", m{0: {30}, 2: every(15, 0, 90)}, m{0: {30}, 2: {0, 15, 45, 60, 75}})
	f("the first dies, the second is one of three", m{1: every(15, 0, 60), 2: every(15, 4, 300), 3: every(15, 9, 600)},
		m{1: every(15, 0, 60), 2: every(15, 64, 300), 3: every(15, 309, 600)})
	f("slower than known", m{1: every(600, 0, 3600), 2: every(600, 300, 3600)},
		m{1: every(600, 0, 3600), 2: every(600, 300, 3600)})
}

func offsets(times []carbonara.Timestamp) (list []float64) {
	for _, t := range times {
		list = append(list, float64(replica.Of(t))*1e6+float64((t-start)/1e6)/1e3)
	}
	return list
}

// Settled measures may be forgotten at any moment: later measures get the same verdicts without them, if each replica's
// come in order.
func TestForgetting(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		step := []float64{1, 5, 15, 60, 120, 300}[seed%6]
		numbers := []replica.Number{0, 1, 2, 3}[1:][:2+seed%2]
		queues := make([][]carbonara.Timestamp, len(numbers))
		for i, n := range numbers {
			phase, down := rng.Float64()*step, false
			for s := phase; s < 60*step; s += step {
				if rng.IntN(12) == 0 {
					down = !down
				}
				if !down {
					queues[i] = append(queues[i], at(s+rng.Float64()*min(1, step/4), n))
				}
			}
		}
		var all, kept []carbonara.Timestamp
		for rounds := range 1000 {
			i := rng.IntN(len(queues))
			n := min(len(queues[i]), rng.IntN(20))
			if rounds < len(queues) { // a replica that nobody has met may come first of all
				i, n = rounds, min(1, len(queues[rounds]))
			}
			all, kept = append(all, queues[i][:n]...), append(kept, queues[i][:n]...)
			queues[i] = queues[i][n:]
			slices.Sort(all)
			slices.Sort(kept)
			var v replica.Verdicts
			if v.Judge(kept) && rng.IntN(2) == 0 {
				lost := v.Settled(kept)
				rest := kept[:0:0]
				for i, t := range kept {
					if !lost[i] {
						rest = append(rest, t)
					}
				}
				kept = rest
			}
			want := counting(all)
			got := counting(kept)
			if !slices.Equal(want, got) {
				t.Fatalf("seed %d, every %v s: %v count of the kept, %v of all", seed, step, offsets(got), offsets(want))
			}
		}
	}
}

// counting returns the timestamps that count, with the numbers of their replicas.
func counting(all []carbonara.Timestamp) (left []carbonara.Timestamp) {
	var v replica.Verdicts
	v.Judge(all)
	for i, t := range all {
		if v.Counts[i] {
			left = append(left, t)
		}
	}
	return left
}
