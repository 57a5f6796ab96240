package api_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// elementOf writes a measure of a series for each door that answers.
var elementOf = map[string]func(series string, seconds, value int) string{
	"line protocol": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s value=%d %d000000000", series, value, seconds)
	},
	"exposition": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s %d %d000", series, value, seconds)
	},
	"JSON lines": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"metric":{"__name__":%q},"values":[%d],"timestamps":[%d000]}`, series, value, seconds)
	},
	"collectd": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"values": [%d], "dstypes": ["gauge"], "dsnames": ["value"], "time": %d, "plugin": %q, "type": "b"}`,
			value, seconds, series)
	},
	"OTLP/JSON": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"name": %q, "gauge": {"dataPoints": [{"timeUnixNano": "%d000000000", "asInt": %d}]}}`, series,
			seconds, value)
	},
}

var refusedCount = regexp.MustCompile(`(\d+) of (\d+) (?:lines|points)`)

// Each element of a random body is stored, or equal to one that is stored, or counted in the answer. Bodies hold good
// elements, odd ones, and several of one series and time.
func TestImportsLoseNothingSilently(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	seed := seedtest.Next(t)
	for _, d := range doors() {
		element := elementOf[d.name]
		if element == nil {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(len(d.name))))
			if d.join == nil {
				d.join = func(elements ...string) string { return strings.Join(elements, "\n") }
			}
			odd := slices.Concat(d.odd, d.twice)
			for _, number := range d.numbers {
				odd = append(odd, fmt.Sprintf(d.number, number))
			}
			for range rounds {
				type key struct {
					series  string
					seconds int
				}
				var elements []string
				stored, named, equal := map[key]int{}, 0, 0
				for range 1 + r.IntN(30) {
					if r.IntN(4) == 0 {
						elements, named = append(elements, odd[r.IntN(len(odd))]), named+1
						continue
					}
					k, value := key{string(rune('a' + r.IntN(4))), 60 + r.IntN(4)}, r.IntN(3)
					elements = append(elements, element(k.series, k.seconds, value))
					before, there := stored[k]
					switch first := strings.HasPrefix(d.name, "OTLP"); {
					case !there:
						stored[k] = value
					case first: // which are deltas, perhaps
						named++
					case before == value:
						equal++
					default:
						named++
						stored[k] = value
					}
				}
				body := d.join(elements...)
				got, told := d.send(t, body)
				count := 0
				if m := refusedCount.FindStringSubmatch(told); m != nil {
					count, _ = strconv.Atoi(m[1])
					if m[2] != strconv.Itoa(len(elements)) {
						t.Errorf("%s: of %s elements, not %d", body, m[2], len(elements))
					}
				}
				if len(got) != len(stored) || count != named || len(got)+count+equal != len(elements) {
					t.Errorf("%s\nof %d elements %d are stored and %d told: %s; want %d, %d and %d equal ones", body, len(elements),
						len(got), count, told, len(stored), named, equal)
				}
				var want, values []string
				for _, value := range stored {
					want = append(want, strconv.Itoa(value))
				}
				for _, one := range got {
					_, value, _ := strings.Cut(one, "=")
					values = append(values, value)
				}
				slices.Sort(want)
				slices.Sort(values)
				if !slices.Equal(want, values) {
					t.Errorf("%s: values %v, want %v", body, values, want)
				}
			}
		})
	}
}
