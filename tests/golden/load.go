package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Vectors reads all vectors, in order of name.
func Vectors() ([]Vector, error) {
	return load("vector-", func(f *file) (v Vector, err error) {
		v = Vector{Name: f.Name, About: f.About, Timestamps: f.timestamps(f.Offsets), Values: floats(f.Values)}
		v.Granularities, err = f.granularities()
		return v, err
	})
}

// Scenarios reads all scenarios, in order of name.
func Scenarios() ([]Scenario, error) {
	return load("scenario-", func(f *file) (s Scenario, err error) {
		s = Scenario{Name: f.Name, About: f.About, Policy: Policy{BackWindow: f.Policy.BackWindow}}
		if s.Policy.Methods, err = carbonara.ParseMethods(f.Policy.Methods); err != nil {
			return s, err
		}
		for _, d := range f.Policy.Definition {
			s.Policy.Definition = append(s.Policy.Definition, Definition(d))
		}
		for _, r := range f.Requests {
			s.Requests = append(s.Requests, Request{f.timestamps(r.Offsets), floats(r.Values), r.Dropped})
		}
		s.Granularities, err = f.granularities()
		return s, err
	})
}

func load[T any](prefix string, convert func(*file) (T, error)) ([]T, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(root, "carbonara", "testdata", "golden", prefix+"*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("golden: no file %s*.json under %s", prefix, root)
	}
	var cases []T
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var f file
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("golden: %s: %w", path, err)
		}
		c, err := convert(&f)
		if err != nil {
			return nil, fmt.Errorf("golden: %s: %w", path, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// moduleRoot is the folder of go.mod: tests run in the folder of their package.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("golden: no go.mod above the working directory")
		}
		folder = parent
	}
}

// file is a case as golden.py writes it. Times are nanoseconds after Origin.
type file struct {
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Origin  int64   `json:"origin"`
	Offsets []int64 `json:"offsets"`
	Values  []value `json:"values"`

	Policy struct {
		BackWindow int      `json:"back_window"`
		Methods    []string `json:"methods"`
		Definition []struct {
			Granularity time.Duration `json:"granularity"`
			Points      int64         `json:"points"`
		} `json:"definition"`
	} `json:"policy"`
	Requests []struct {
		Offsets []int64 `json:"offsets"`
		Values  []value `json:"values"`
		Dropped int     `json:"dropped"`
	} `json:"requests"`

	Granularities []struct {
		Granularity time.Duration `json:"granularity"`
		Starts      []int64       `json:"starts"`
		Aggregates  []struct {
			Method string `json:"method"`
			answer
			Rule    int     `json:"rule"`
			Gnocchi *answer `json:"gnocchi"`
		} `json:"aggregates"`
	} `json:"granularities"`
}

// answer leaves its starts out where they are those of the granularity.
type answer struct {
	Starts *[]int64 `json:"starts"`
	Values []value  `json:"values"`
}

func (f *file) timestamps(offsets []int64) []carbonara.Timestamp {
	timestamps := make([]carbonara.Timestamp, len(offsets))
	for i, o := range offsets {
		timestamps[i] = carbonara.Timestamp(f.Origin + o)
	}
	return timestamps
}

func (f *file) granularities() ([]Granularity, error) {
	var granularities []Granularity
	for _, g := range f.Granularities {
		convert := func(a *answer) (Answer, error) {
			starts := g.Starts
			if a.Starts != nil {
				starts = *a.Starts
			}
			if len(starts) != len(a.Values) {
				return Answer{}, fmt.Errorf("%d starts, %d values", len(starts), len(a.Values))
			}
			return Answer{f.timestamps(starts), floats(a.Values)}, nil
		}
		granularity := Granularity{Granularity: g.Granularity}
		for i := range g.Aggregates {
			a := &g.Aggregates[i]
			method, err := carbonara.ParseMethod(a.Method)
			if err != nil {
				return nil, err
			}
			aggregate := Aggregate{Method: method, Rule: a.Rule}
			if aggregate.Answer, err = convert(&a.answer); err != nil {
				return nil, fmt.Errorf("%s at %v: %w", a.Method, g.Granularity, err)
			}
			if a.Gnocchi != nil {
				gnocchi, err := convert(a.Gnocchi)
				if err != nil {
					return nil, fmt.Errorf("%s at %v, Gnocchi's: %w", a.Method, g.Granularity, err)
				}
				aggregate.Gnocchi = &gnocchi
			}
			granularity.Aggregates = append(granularity.Aggregates, aggregate)
		}
		granularities = append(granularities, granularity)
	}
	return granularities, nil
}

// value is a float: a JSON number in the shortest form that gives back its bits, or one of the strings NaN, +Inf, -Inf.
type value float64

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	parsed, err := strconv.ParseFloat(s, 64)
	*v = value(parsed)
	return err
}

func floats(values []value) []float64 {
	f := make([]float64, len(values))
	for i, v := range values {
		f[i] = float64(v)
	}
	return f
}
