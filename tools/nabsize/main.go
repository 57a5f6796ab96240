package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gnocco/carbonara"
)

const step = time.Minute // between measures

func main() {
	measures := flag.Int("measures", 1, "measures in a group")
	rounds := flag.Int("rounds", 100, "how often each split is encoded and decoded; the fastest time counts")
	perColumn := flag.Bool("columns", false, "print how each column is stored")
	flag.Parse()
	methods, err := carbonara.ParseMethods([]string{"mean", "min", "max", "sum", "count", "std"})
	if err != nil {
		panic(err)
	}
	granularity := time.Duration(*measures) * step
	plan := carbonara.NewPlan([]time.Duration{granularity}, methods)
	var all, decimals total
	for _, name := range flag.Args() {
		values, isDecimal, err := readValues(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "nabsize:", err)
			os.Exit(1)
		}
		one := measure(plan, values, max(*rounds, 1), *perColumn)
		all.add(one)
		if isDecimal {
			decimals.add(one)
		}
		fmt.Printf("%-45s decimal=%-5t groups=%-6d bytes/group=%.3f\n", filepath.Base(name), isDecimal, one.groups, one.perGroup())
	}
	fmt.Printf("%d files of decimals: %.3f bytes/group; %d files: %.3f bytes/group\n", decimals.files, decimals.perGroup(), all.files, all.perGroup())
	fmt.Printf("of decimals by column: %s; of all: %s\n", decimals.byColumn(), all.byColumn())
	if all.values > 0 {
		fmt.Printf("encode %.0f MB/s, decode %.0f MB/s of float64\n", all.megabytesPerSecond(all.encode), all.megabytesPerSecond(all.decode))
	}
}

// total is what one file or several add up to.
type total struct {
	files, groups, bytes, values int
	encode, decode               time.Duration
	columns                      map[string]int // bytes of each
}

func (t *total) add(o total) {
	t.files++
	t.groups += o.groups
	t.bytes += o.bytes
	t.values += o.values
	t.encode += o.encode
	t.decode += o.decode
	t.addColumns(o.columns)
}

func (t *total) addColumns(columns map[string]int) {
	if t.columns == nil {
		t.columns = make(map[string]int)
	}
	for name, bytes := range columns {
		t.columns[name] += bytes
	}
}

// byColumn tells how many bytes a group each column takes.
func (t *total) byColumn() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t.columns)) {
		parts = append(parts, fmt.Sprintf("%s %.3f", name, float64(t.columns[name])/float64(max(t.groups, 1))))
	}
	return strings.Join(parts, ", ")
}

func (t *total) perGroup() float64 { return float64(t.bytes) / float64(max(t.groups, 1)) }

func (t *total) megabytesPerSecond(d time.Duration) float64 {
	return float64(8*t.values) / 1e6 / d.Seconds()
}

// readValues returns the values of a file, and whether every one has a decimal form of at most 10 digits after the
// point, and not more than 15 in all.
func readValues(name string) (values []float64, isDecimal bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	isDecimal = true
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		_, text, ok := strings.Cut(lines.Text(), ",")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue // the header
		}
		values = append(values, v)
		shortest := strconv.FormatFloat(v, 'f', -1, 64)
		_, fraction, _ := strings.Cut(shortest, ".")
		isDecimal = isDecimal && len(fraction) <= 10 && len(shortest) <= 16
	}
	return values, isDecimal, lines.Err()
}

// measure encodes and decodes the splits of a series so many times. Of each split the fastest time counts: one that nothing
// else interrupted.
func measure(plan *carbonara.Plan, values []float64, rounds int, perColumn bool) total {
	batch := &carbonara.Batch{Values: values, Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
	for i := range values {
		batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(i)*carbonara.Timestamp(step))
	}
	var result carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), batch, &result); err != nil {
		panic(err)
	}
	groups := result.Groups(0, 0)
	t := total{groups: groups.Len(), values: groups.Len() * len(plan.Columns)}
	var decoded carbonara.Groups
	for from := 0; from < groups.Len(); {
		key := carbonara.SplitKeyOf(groups.Starts[from], groups.Granularity)
		to := max(groups.Search(key.Next().Start), from+1)
		part := groups.Slice(from, to)
		var split []byte
		t.encode += fastest(rounds, func() { split = carbonara.AppendSplit(split[:0], key, &part) })
		t.bytes += len(split)
		t.decode += fastest(rounds, func() {
			decoded.Reset(groups.Granularity, plan.Columns)
			if err := carbonara.DecodeSplit(split, key, plan.Columns, 0, carbonara.MaxTimestamp, &decoded); err != nil {
				panic(err)
			}
		})
		check(&decoded, &part)
		t.addColumns(describe(split, perColumn))
		from = to
	}
	return t
}

// fastest returns the shortest time that f takes, of so many.
func fastest(rounds int, f func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range rounds {
		started := time.Now()
		f()
		best = min(best, time.Since(started))
	}
	return best
}

func check(got, want *carbonara.Groups) {
	for c := range want.Columns {
		for i, v := range want.Values[c] {
			if math.Float64bits(got.Values[c][i]) != math.Float64bits(v) {
				panic(fmt.Sprintf("%v of group %d: %v came back as %v", want.Columns[c], i, v, got.Values[c][i]))
			}
		}
	}
}

// describe returns the bytes of each column, and prints how it is stored if asked to.
func describe(split []byte, print bool) map[string]int {
	info, err := carbonara.SplitInfo(split)
	if err != nil {
		panic(err)
	}
	bytes := make(map[string]int)
	for _, c := range info.Columns {
		bytes[c.Column.String()] = c.Bytes
		if print {
			fmt.Printf("  %-6v %6.3f bytes/group  %s\n", c.Column, float64(c.Bytes)/float64(info.Groups), c.Codec)
		}
	}
	return bytes
}
