package correlation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// ChoiceOptions say what Choices measures.
type ChoiceOptions struct {
	// Engine makes the engine of a server with that value of --gpu.
	Engine func(choice string, registerer prometheus.Registerer) correlate.Engine
	Device *device.Device // kept open meanwhile, as a server's resampler does; nil: the CPU alone is measured
	Driver string
	Binary string // gnocco-correlate, for files
}

// choices are the values of --gpu that can be had here.
func (o *ChoiceOptions) choices() []string {
	if o.Device == nil {
		return []string{"off"}
	}
	return []string{"off", "on", "auto"}
}

// choiceShapes are stored correlations: columns, rows and the longest lag.
var choiceShapes = [][3]int{{200, 2_016, 0}, {1_000, 2_016, 0}, {1_000, 10_080, 0}, {2_000, 2_016, 0},
	{2_000, 10_080, 0}, {2_000, 2_016, 12}, {500, 2_016, 12}, {5_000, 2_016, 0}, {10_000, 2_016, 0}}

// choiceFiles are files of so many columns and rows.
var choiceFiles = [][2]int{{256, 100_000}, {700, 60_000}}

// Choices measures what the API asks for on the CPU, on devices and on what is chosen: the strongest 100,000 pairs of
// columns in memory. And the command line's files, each by a process of its own.
func Choices(ctx context.Context, o report.Run, what ChoiceOptions) error {
	o.EnsureDefaults()
	if what.Device != nil {
		if _, err := what.Device.Open(ctx); err != nil {
			return err
		}
	}
	for _, shape := range choiceShapes {
		if err := correlateChoice(ctx, o, what, shape); err != nil {
			return err
		}
	}
	for _, file := range choiceFiles {
		if err := correlateFile(ctx, o, what, file[0], file[1]); err != nil {
			return err
		}
	}
	return nil
}

const choiceRounds = 3 // the median counts

func correlateChoice(ctx context.Context, o report.Run, what ChoiceOptions, shape [3]int) error {
	values := normalValues(shape[0], shape[1], o.Seed)
	for _, choice := range what.choices() {
		registry := prometheus.NewRegistry()
		engine := what.Engine(choice, registry)
		var durations []time.Duration
		on := ""
		for range choiceRounds + 1 {
			pairs, started := 0, time.Now()
			result, err := engine.Correlate(ctx, values, correlate.Options{MaxLag: shape[2], MemoryBytes: 8 << 30},
				correlate.Selection{Top: 100_000}, func(correlate.Pair) error {
					pairs++
					return nil
				})
			if err != nil {
				return err
			}
			if want := min(100_000, shape[0]*(shape[0]-1)/2); pairs != want {
				return fmt.Errorf("bench: %d pairs, not %d", pairs, want)
			}
			durations, on = append(durations, time.Since(started)), result.Engine
		}
		durations = durations[1:] // the first one takes memory from the system
		slices.Sort(durations)
		if err := o.Report.Add(fmt.Sprintf("Choice/columns=%d/rows=%d/lag=%d/gpu=%s", shape[0], shape[1], shape[2],
			choice), len(durations),
			report.Of(report.Milliseconds(durations[len(durations)/2]), "ms")); err != nil {
			return err
		}
		if choice == "off" {
			continue
		}
		if err := o.Report.Note("on %q, seconds of %d calls: %s", on, choiceRounds+1, phasesOf(registry)); err != nil {
			return err
		}
	}
	return nil
}

// phasesOf lists what the phases of correlations on devices took.
func phasesOf(registry *prometheus.Registry) string {
	families, err := registry.Gather()
	if err != nil {
		return err.Error()
	}
	var phases []string
	for _, family := range families {
		if family.GetName() != "gnocco_correlator_device_phase_seconds_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			phases = append(phases, fmt.Sprintf("%s %.3f", m.GetLabel()[0].GetValue(), m.GetCounter().GetValue()))
		}
	}
	return strings.Join(phases, ", ")
}

// correlateFile measures `gnocco-correlate FILE` as somebody types it.
func correlateFile(ctx context.Context, o report.Run, what ChoiceOptions, columns, rows int) (err error) {
	dir, err := os.MkdirTemp("", "gnocco-choice")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "x.csv")
	if err := writeCSV(name, columns, rows, o.Seed); err != nil {
		return err
	}
	for _, choice := range what.choices() {
		var durations []time.Duration
		var said string
		for range choiceRounds + 1 {
			args := []string{"--gpu", choice, "--top", "1000", name}
			if what.Driver != "" {
				args = append(args, "--cuda-driver", what.Driver)
			}
			command := exec.CommandContext(ctx, what.Binary, args...)
			var stderr strings.Builder
			command.Stdout, command.Stderr = io.Discard, &stderr
			started := time.Now()
			if err := command.Run(); err != nil {
				return fmt.Errorf("bench: correlate: %w\n%s", err, stderr.String())
			}
			durations, said = append(durations, time.Since(started)), strings.TrimSpace(stderr.String())
		}
		durations = durations[1:]
		slices.Sort(durations)
		if err := o.Report.Add(fmt.Sprintf("ChoiceFile/columns=%d/rows=%d/gpu=%s", columns, rows, choice),
			len(durations), report.Of(report.Milliseconds(durations[len(durations)/2]), "ms")); err != nil {
			return err
		}
		if err := o.Report.Note("%s", said); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes a file of so many rows, some of which are the same.
func writeCSV(name string, columns, rows int, seed uint64) (err error) {
	block := csvBlocks(columns, 12*columns*min(rows, 10_000), seed)
	header, body, _ := strings.Cut(strings.Join(block, ""), "\n")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriterSize(file, 1<<20)
	_, _ = w.WriteString(header + "\n") // Flush tells
	for left := rows; left > 0; {
		lines := body
		if n := strings.Count(body, "\n"); n > left {
			for range n - left {
				lines = lines[:strings.LastIndexByte(lines[:len(lines)-1], '\n')+1]
			}
		}
		left -= strings.Count(lines, "\n")
		_, _ = w.WriteString(lines)
	}
	return w.Flush()
}
