package formats

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/bench/pattern"
)

// archiveSeries is the values of one series, of measures at regular times.
type archiveSeries struct {
	name    string
	values  []float64
	decimal bool // every value has a decimal form of at most 10 digits behind the point and 15 in all
}

// generatedSeries returns a series of n measures for each pattern.
func generatedSeries(n int, seed uint64) []archiveSeries {
	var all []archiveSeries
	for _, p := range pattern.All() {
		values := p.Append(nil, n, rand.New(rand.NewPCG(seed, uint64(p))))
		decimal := true
		for _, v := range values {
			decimal = decimal && isShortDecimal(v)
		}
		all = append(all, archiveSeries{p.String(), values, decimal})
	}
	return all
}

// readSeries reads the CSV files below a folder: a header, then a timestamp and a value a line. Timestamps are left
// aside.
func readSeries(folder string) (all []archiveSeries, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".csv" {
			return err
		}
		s, err := readSeriesFile(path)
		if err == nil && len(s.values) == 0 {
			err = fmt.Errorf("%s: no lines of timestamp and value", path)
		}
		all = append(all, s)
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no CSV files", folder)
	}
	return all, err
}

func readSeriesFile(path string) (s archiveSeries, err error) {
	file, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer file.Close()
	s = archiveSeries{name: strings.TrimSuffix(filepath.Base(path), ".csv"), decimal: true}
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
		s.values = append(s.values, v)
		s.decimal = s.decimal && isShortDecimal(v)
	}
	return s, lines.Err()
}

func isShortDecimal(v float64) bool {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	_, fraction, _ := strings.Cut(text, ".")
	return len(fraction) <= 10 && len(text) <= 16
}
