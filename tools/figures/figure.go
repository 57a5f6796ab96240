package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var columns = []string{"topic", "row", "server", "metric", "value", "unit", "commit", "date", "machine"}

// figure is one line of the data. An aim's value begins with "<= " or ">= ".
type figure struct{ topic, row, server, metric, value, unit, commit, date, machine string }

// readFigures reads the figures of all files that match a pattern. It refuses a line without a number or a run.
func readFigures(pattern string) (all []figure, err error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		lines, err := csv.NewReader(file).ReadAll()
		if err != nil || len(lines) == 0 || !slices.Equal(lines[0], columns) {
			return nil, fmt.Errorf("%s does not begin with %s: %v", name, strings.Join(columns, ","), err)
		}
		for i, l := range lines[1:] {
			f := figure{l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8]}
			_, err := strconv.ParseFloat(strings.TrimLeft(f.value, "<=> "), 64)
			if err != nil || slices.Contains(slices.Concat(l[:3], l[6:]), "") {
				return nil, fmt.Errorf("%s:%d: no number, or an empty field: %v", name, i+2, l)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// number returns the value, or the aim's limit.
func (f figure) number() float64 {
	n, _ := strconv.ParseFloat(strings.TrimLeft(f.value, "<=> "), 64)
	return n
}

// text returns the value as pages write it, with commas between thousands.
func (f figure) text() string {
	digits := strings.TrimLeft(f.value, "<=> ")
	sign := strings.NewReplacer("<=", "≤", ">=", "≥").Replace(strings.TrimSuffix(f.value, digits))
	whole, _, _ := strings.Cut(digits, ".")
	fraction := digits[len(whole):]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}

// run names the program, day and machine that the figure is from.
func (f figure) run() string { return f.date + ", " + f.commit + ", " + f.machine }

// worseThan reports whether another figure of the same metric is better, or is an aim that this one misses. More is
// better in rates and above an aim's least value.
func (f figure) worseThan(other figure) bool {
	if strings.HasPrefix(other.value, ">=") || strings.Contains(f.unit, "/s") && other.server != "aim" {
		return f.number() < other.number()
	}
	return f.number() > other.number()
}
