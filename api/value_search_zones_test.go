package api_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// readingAll are archives that ignore the filter, so that every split is read.
type readingAll struct {
	query.Archives
	groups int // read
}

func (a *readingAll) Groups(ctx context.Context, read model.Read, staleness *query.Staleness,
	dst *carbonara.Groups) error {
	read.ValueFilter = nil
	err := a.Archives.Groups(ctx, read, staleness, dst)
	a.groups += dst.Len()
	return err
}

// readingMatching count what is read.
type readingMatching struct {
	query.Archives
	groups int
}

func (a *readingMatching) Groups(ctx context.Context, read model.Read, staleness *query.Staleness,
	dst *carbonara.Groups) error {
	err := a.Archives.Groups(ctx, read, staleness, dst)
	a.groups += dst.Len()
	return err
}

// handlerWith returns the API with other archives.
func (s *server) handlerWith(t testing.TB, archives query.Archives) http.Handler {
	t.Helper()
	options := s.options
	options.Archives = archives
	options.Registerer, options.Gatherer = nil, nil
	handler, err := api.New(options)
	check(t, err)
	return handler
}

// randomPredicate returns a condition whose constants are of values' size.
func randomPredicate(rng *rand.Rand, values []float64, depth int) string {
	constant := func() string {
		v := values[rng.IntN(len(values))] * (1 + float64(rng.IntN(3)-1)/16)
		if v != v || math.IsInf(v, 0) {
			v = 0
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	name := func(names ...string) string { return names[rng.IntN(len(names))] }
	var operation func(depth int) string
	operand := func(depth int) string {
		if depth == 0 {
			return constant()
		}
		return operation(depth - 1)
	}
	arithmetic := []string{"+", "-", "*", "/", "%", "**"}
	operation = func(depth int) string {
		if depth == 0 || rng.IntN(2) == 0 {
			return fmt.Sprintf(`{%q: %s}`, name(arithmetic...), constant())
		}
		return fmt.Sprintf(`{%q: [%s, %s]}`, name(arithmetic...), operand(depth), operand(depth-1))
	}
	comparison := name("=", "!=", "<", ">", "<=", ">=", ">", "<")
	switch rng.IntN(6) {
	case 0:
		if depth > 0 {
			parts := make([]string, rng.IntN(4))
			for i := range parts {
				parts[i] = randomPredicate(rng, values, depth-1)
			}
			return fmt.Sprintf(`{%q: [%s]}`, name("and", "or"), strings.Join(parts, ", "))
		}
	case 1:
		return fmt.Sprintf(`{%q: [%s, %s]}`, comparison, operation(1), operand(1))
	case 2:
		return operation(1)
	}
	return fmt.Sprintf(`{%q: %s}`, comparison, constant())
}

// A search finds the same if it skips splits by their zones: in archives of many operands, with late measures and
// heads, for every filter.
func TestSearchValuesByZones(t *testing.T) {
	const seed = 33
	rng := rand.New(rand.NewPCG(seed, seed))
	s := newServer(t, nil)
	all, valueFilter := &readingAll{Archives: s.options.Archives}, &readingMatching{Archives: s.options.Archives}
	handlers := []http.Handler{s.handlerWith(t, all), s.handlerWith(t, valueFilter)}
	methods := []string{"mean", "min", "max", "sum", "count", "std", "last", "median", "rate:mean",
		"rate:std", "rate:max"}
	s.create(t, "/v1/archive_policy", `{"name":"p","back_window":1,"aggregation_methods":["`+
		strings.Join(methods, `","`)+`"],
		"definition":[{"granularity":"1 second","points":7000},{"granularity":"30 minutes"}]}`, "user", "admin")
	gauge, wild, ratio := 500., 0., 0.
	shapes := []func(i int) float64{
		func(int) float64 { gauge += rng.NormFloat64(); return math.Round(100*gauge) / 100 },
		func(int) float64 {
			wild = rng.NormFloat64() * math.Exp(float64(rng.IntN(40)))
			switch rng.IntN(200) {
			case 0:
				return math.NaN()
			case 1:
				return math.Inf(1 - 2*rng.IntN(2))
			}
			return wild
		},
		func(i int) float64 { ratio = float64(i/2000) / 3; return ratio },
		func(i int) float64 { return float64(i % 2000) },
	}
	values := make([][]float64, len(shapes))
	ids := make([]string, len(shapes))
	for i := range ids {
		ids[i] = s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	}
	post := func(from, to, step int) {
		for i, id := range ids {
			var body strings.Builder
			for second := from; second < to; second += step {
				for range 1 + rng.IntN(2) {
					v := shapes[i](second)
					values[i] = append(values[i], v)
					text := strconv.FormatFloat(v, 'g', -1, 64)
					if v != v || math.IsInf(v, 0) {
						text = `"` + text + `"`
					}
					fmt.Fprintf(&body, `,{"timestamp":%d.%d,"value":%s}`, 360_000+second, rng.IntN(10), text)
				}
			}
			s.want(t, "POST /v1/metric/"+id+"/measures", "["+body.String()[1:]+"]", 202, "")
			s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true&granularity=1800", "", 200, "~")
		}
	}
	search := func(times int) (found int) {
		for range times {
			i := rng.IntN(len(ids))
			predicate := randomPredicate(rng, values[i], 2)
			target := fmt.Sprintf("/v1/search/metric?metric_id=%s&aggregation=%s", ids[i],
				methods[rng.IntN(len(methods))])
			if rng.IntN(3) == 0 {
				target += fmt.Sprintf("&start=%d&stop=%d", 360_000+rng.IntN(4000), 360_000+rng.IntN(9000))
			}
			var answers [2]string
			for j, handler := range handlers {
				r := httptest.NewRequest("POST", target, strings.NewReader(predicate))
				r.SetBasicAuth("foobar", "")
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != 200 {
					t.Fatalf("%s %s: %d %s", target, predicate, w.Code, w.Body)
				}
				answers[j] = w.Body.String()
			}
			if answers[0] != answers[1] {
				t.Fatalf("%s %s: found by zones\n%.2000s\nof all\n%.2000s", target, predicate, answers[1], answers[0])
			}
			if len(answers[0]) > 60 {
				found++
			}
		}
		return found
	}
	checkpoint := func() { check(t, s.options.Archives.(testnode.Archives).Checkpoint(t.Context())) }
	post(0, 3000, 1)
	found := search(60) // in heads only
	checkpoint()
	found += search(60)
	post(1900, 2600, 3) // late
	post(3000, 5400, 1)
	found += search(100)
	checkpoint()
	found += search(100)
	post(4000, 4010, 1)
	post(5400, 6200, 1)
	found += search(100)
	checkpoint()
	post(6200, 6201, 1)
	found += search(100)
	if found < 150 {
		t.Errorf("seed %d: only %d searches find something", seed, found)
	}
	if valueFilter.groups > all.groups*9/10 {
		t.Errorf("seed %d: %d groups are read for what all %d have", seed, valueFilter.groups, all.groups)
	}

}
