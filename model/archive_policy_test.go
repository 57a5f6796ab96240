package model_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func input(granularity time.Duration, points int64, timespan time.Duration) model.DefinitionInput {
	var in model.DefinitionInput
	if granularity != 0 {
		in.Granularity = &granularity
	}
	if points != 0 {
		in.Points = &points
	}
	if timespan != 0 {
		in.Timespan = &timespan
	}
	return in
}

func newPolicy(t *testing.T, backWindow int, methods []string,
	definition ...model.DefinitionInput) *model.ArchivePolicy {
	t.Helper()
	p, err := model.NewArchivePolicy("p", backWindow, definition, methods)
	fatal.If(t, err)
	return p
}

func TestDefinition(t *testing.T) {
	f := func(in model.DefinitionInput, want model.Definition) {
		t.Helper()
		if got := newPolicy(t, 0, nil, in).Definition[0]; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	f(input(time.Second, 0, 0), model.Definition{Granularity: time.Second})
	f(input(time.Second, 60, 0), model.Definition{Granularity: time.Second, Points: 60, Timespan: time.Minute})
	f(input(0, 60, time.Minute), model.Definition{Granularity: time.Second, Points: 60, Timespan: time.Minute})
	f(input(time.Second, 60, time.Minute), model.Definition{Granularity: time.Second, Points: 60,
		Timespan: time.Minute})
	// A timespan that does not divide is rounded down.
	f(input(time.Minute, 0, 150*time.Second), model.Definition{Granularity: time.Minute, Points: 2,
		Timespan: 2 * time.Minute})
	f(input(0, 3, 10), model.Definition{Granularity: 3, Points: 3, Timespan: 9})
}

func TestArchivePolicyRefuses(t *testing.T) {
	f := func(name string, backWindow int, methods []string, field, reason string,
		definition ...model.DefinitionInput) {
		t.Helper()
		_, err := model.NewArchivePolicy(name, backWindow, definition, methods)
		var fieldErr *model.FieldError
		if !errors.As(err, &fieldErr) || !errors.Is(err, model.ErrInvalid) {
			t.Errorf("error %v is no FieldError", err)
			return
		}
		if fieldErr.Field != field || !strings.Contains(fieldErr.Reason, reason) {
			t.Errorf("got %q: %q, want %q: %q", fieldErr.Field, fieldErr.Reason, field, reason)
		}
	}
	second := input(time.Second, 60, 0)
	f("", 0, nil, "name", "empty", second)
	f("a\x00b", 0, nil, "name", "NUL", second)
	f(strings.Repeat("é", 256), 0, nil, "name", "255", second)
	f("p", -1, nil, "back_window", "at least 0", second)
	f("p", 0, nil, "definition", "at least one")
	f("p", 0, []string{"mean", "wrong"}, "aggregation_methods",
		`Invalid value for aggregation_methods: "wrong"`, second)
	f("p", 0, []string{"-wrong"}, "aggregation_methods", "-wrong", second)
	f("p", 0, []string{"+*"}, "aggregation_methods", "+*", second)
	f("p", 0, []string{""}, "aggregation_methods", "Invalid", second)
	f("p", 0, []string{"mean", "-mean"}, "aggregation_methods", "left", second)
	f("p", 0, nil, "definition", "timespan ≠ granularity × points", input(time.Second, 60, time.Hour))
	f("p", 0, nil, "definition", "At least two", input(0, 60, 0))
	f("p", 0, nil, "definition", "At least two", input(0, 0, time.Hour))
	f("p", 0, nil, "definition", "At least two", model.DefinitionInput{})
	f("p", 0, nil, "definition", "Granularity should be > 0", input(-time.Second, 60, 0))
	f("p", 0, nil, "definition", "Granularity should be > 0", input(0, 60, 59))
	f("p", 0, nil, "definition", "points should be > 0", input(time.Second, -1, 0))
	f("p", 0, nil, "definition", "Timespan should be > 0", input(time.Second, 0, -time.Hour))
	f("p", 0, nil, "definition", "Calculated number of points is < 0", input(time.Minute, 0, time.Second))
	f("p", 0, nil, "definition", "292 years", input(time.Hour, math.MaxInt64/2, 0))
	f("p", 0, nil, "definition", "More than one archive policy uses granularity `1.0'", second,
		input(time.Minute, 1, 0), second)
	f("p", 0, nil, "definition", "granularity `0.5'", input(time.Second/2, 1, 0), input(time.Second/2, 2, 0))
}

func TestAggregationMethods(t *testing.T) {
	f := func(methods []string, want ...string) {
		t.Helper()
		if got := newPolicy(t, 0, methods, input(time.Second, 60, 0)).MethodNames(); !slices.Equal(got, want) {
			t.Errorf("%q resolves to %q, want %q", methods, got, want)
		}
	}
	f(nil, "mean", "sum", "max", "min", "std", "count")
	f([]string{}, "mean", "sum", "max", "min", "std", "count")
	f([]string{"count", "mean", "count"}, "mean", "count")
	f([]string{"-mean", "+95pct"}, "sum", "max", "min", "std", "count", "95pct")
	f([]string{"mean", "sum", "-sum", "+rate:last"}, "mean", "rate:last")
	if got := len(newPolicy(t, 0, []string{"*"}, input(time.Second, 60, 0)).Methods()); got != 216 {
		t.Errorf("* resolves to %d methods, want 216", got)
	}
	if got := len(newPolicy(t, 0, []string{"*", "-rate:1pct"}, input(time.Second, 60, 0)).Methods()); got != 215 {
		t.Errorf("all but one resolves to %d methods, want 215", got)
	}
}

func TestArchivePolicyAnswers(t *testing.T) {
	p := newPolicy(t, 2, []string{"mean", "rate:max"}, input(time.Hour, 0, 0), input(time.Second, 60, 0))
	if got := p.Granularities(); !slices.Equal(got, []time.Duration{time.Second, time.Hour}) {
		t.Errorf("granularities %v", got)
	}
	if p.Timespan(time.Second) != time.Minute || p.Timespan(time.Hour) != 0 || p.Timespan(time.Minute) != 0 {
		t.Error("wrong timespans")
	}
	if !p.HasGranularity(time.Hour) || p.HasGranularity(time.Minute) {
		t.Error("wrong granularities")
	}
	if !p.HasMethod(carbonara.Mean) || p.HasMethod(carbonara.Max) || !p.HasMethod(carbonara.Max.Rate()) {
		t.Error("wrong methods")
	}
	if p.BackWindowBlocks() != 3 {
		t.Errorf("%d blocks, want one more for the rate", p.BackWindowBlocks())
	}
	if p := newPolicy(t, 2, []string{"mean"}, input(time.Second, 60, 0)); p.BackWindowBlocks() != 2 {
		t.Errorf("%d blocks, want 2", p.BackWindowBlocks())
	}
	if plan := p.Plan(); !plan.HasRate() || plan != p.Plan() {
		t.Error("the plan lacks the rate, or is not kept")
	}
}

func TestArchivePolicyJSON(t *testing.T) {
	p := newPolicy(t, 1, []string{"mean", "last"}, input(time.Hour, 0, 0), input(time.Minute, 0, 36*time.Hour))
	got, err := json.Marshal(p)
	fatal.If(t, err)
	want := `{"name":"p","back_window":1,"definition":[` +
		`{"timespan":null,"granularity":"1:00:00","points":null},` +
		`{"timespan":"1 day, 12:00:00","granularity":"0:01:00","points":2160}],"aggregation_methods":["mean","last"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUpdate(t *testing.T) {
	p := newPolicy(t, 1, []string{"mean"}, input(time.Second, 60, 0), input(time.Minute, 60, 0))
	backWindow := 5
	// In another order, with other points and none.
	u, err := p.Update(&backWindow, []model.DefinitionInput{input(time.Minute, 0, 0), input(time.Second, 0, time.Hour)})
	fatal.If(t, err)
	if u.BackWindow != 5 || u.Timespan(time.Second) != time.Hour || u.Timespan(time.Minute) != 0 ||
		len(u.Methods()) != 1 {
		t.Errorf("updated to %+v", u)
	}
	if p.BackWindow != 1 || p.Timespan(time.Second) != time.Minute {
		t.Error("the old policy was modified")
	}
	if u, err = p.Update(nil, nil); err != nil || u.BackWindow != 1 || len(u.Definition) != 2 {
		t.Errorf("no change gives %+v, %v", u, err)
	}
	negative := -1
	f := func(backWindow *int, want string, definition ...model.DefinitionInput) {
		t.Helper()
		if _, err := p.Update(backWindow, definition); !errors.Is(err, model.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f(&negative, "at least 0")
	f(nil, "Archive policy p does not support change: Cannot add or drop granularities", input(time.Second, 60, 0))
	f(nil, "Archive policy p does not support change: 1.0 granularity interval was changed",
		input(2*time.Second, 60, 0), input(time.Minute, 1, 0))
	f(nil, "timespan ≠", input(time.Second, 60, 1), input(time.Minute, 1, 0))
	f(nil, "at least one", []model.DefinitionInput{}...)
}

func TestDefaultArchivePolicies(t *testing.T) {
	f := func(name string, backWindow, methods int, timespans map[time.Duration]time.Duration) {
		t.Helper()
		for _, p := range model.DefaultArchivePolicies() {
			if p.Name != name {
				continue
			}
			if p.BackWindow != backWindow || len(p.Methods()) != methods || len(p.Definition) != len(timespans) {
				t.Errorf("%s is %+v", name, p)
			}
			for granularity, timespan := range timespans {
				if p.Timespan(granularity) != timespan {
					t.Errorf("%s keeps %v for %v", name, granularity, p.Timespan(granularity))
				}
			}
			return
		}
		t.Errorf("no policy %s", name)
	}
	const day = 24 * time.Hour
	f("bool", 3600, 1, map[time.Duration]time.Duration{time.Second: 365 * day})
	f("low", 0, 6, map[time.Duration]time.Duration{5 * time.Minute: 30 * day})
	f("medium", 0, 6, map[time.Duration]time.Duration{time.Minute: 7 * day, time.Hour: 365 * day})
	f("high", 0, 6, map[time.Duration]time.Duration{time.Second: time.Hour, time.Minute: 7 * day, time.Hour: 365 * day})
}
