package prometheus_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// request decodes series of these labels, each with a measure.
func request(t *testing.T, all ...[]string) *prometheus.WriteRequest {
	t.Helper()
	var list []series
	for _, labels := range all {
		list = append(list, series{labels: labels, times: []int64{1}, values: []float64{1}})
	}
	r := &prometheus.WriteRequest{Labelled: true, Latest: carbonara.MaxTimestamp}
	fatal.If(t, r.Decode(compress(appendMessage(nil, list...)), limit))
	return r
}

func TestTarget(t *testing.T) {
	f := func(want string, labels ...string) {
		t.Helper()
		target, err := request(t, labels).Target(0)
		if err != nil {
			t.Errorf("%q: %v", labels, err)
			return
		}
		if got := fmt.Sprintf("%s %s %v", target.Resource, target.Metric, target.Attributes); got != want {
			t.Errorf("%q: %s\nwant %s", labels, got, want)
		}
	}
	f("j@h:9 up map[instance:h:9 job:j]", "__name__", "up", "instance", "h:9", "job", "j", "zone", "a")
	f("none@none up map[instance:none job:none]", "__name__", "up")
	f("none@h up map[instance:h job:none]", "job", "", "__name__", "up", "instance", "h")
	f("a_b@h x_y map[instance:h job:a/b]", "job", "a/b", "__name__", "x/y", "instance", "h")
	f("2@none up map[instance:none job:2]", "job", "1", "job", "2", "__name__", "up")
}

func TestLabels(t *testing.T) {
	f := func(want string, labels ...string) {
		t.Helper()
		found, err := request(t, labels).Name(0)
		var got []string
		if err == nil {
			for name, value := range found.Labels.All() {
				got = append(got, name+"="+value)
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v, want %q", labels, got, err, want)
		}
	}
	f("__name__=up instance=h:9 job=j path=/a,b zone=1=%", "__name__", "up", "zone", "1=%", "instance", "h:9", "job",
		"j", "path", "/a,b", "empty", "")
	f("__name__=a/b", "__name__", "a/b")
	if _, err := request(t, []string{"__name__", "up", "", "x"}).Name(0); err == nil ||
		!strings.Contains(err.Error(), "no name") {
		t.Errorf("a label without a name: %v", err)
	}
	for _, again := range []string{"1", "2"} {
		if _, err := request(t, []string{"__name__", "up", "z", "1", "z", again}).Name(0); err == nil ||
			!strings.Contains(err.Error(), "stands there twice") {
			t.Errorf("a label twice: %v", err)
		}
	}
}

func TestTargetOfLongLabels(t *testing.T) {
	long := strings.Repeat("ä", 300)
	r := request(t, []string{"__name__", "up", "job", long + "a"}, []string{"__name__", "up", "job", long + "b"})
	a, err := r.Target(0)
	fatal.If(t, err)
	b, err := r.Target(1)
	fatal.If(t, err)
	if a.Resource == b.Resource || len(a.Resource) > 255 || !utf8.ValidString(a.Resource) {
		t.Errorf("resources %q and %q", a.Resource, b.Resource)
	}
}

func TestTargetRefuses(t *testing.T) {
	f := func(reason string, labels ...string) {
		t.Helper()
		if _, err := request(t, []string{"__name__", "first"}, labels).Target(1); err == nil ||
			!strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want %s", labels, err, reason)
		}
	}
	f("label __name__ is missing, in series 1", "job", "j")
	f("label __name__ is missing", "__name__", "")
	f("not valid UTF-8", "__name__", "a\xff")
	f("not valid UTF-8", "__name__", "a", "b\xff", "c")
}

// Equal keys are of the same labels in the same order, with any text beside them.
func TestKeysAreLabelsAsTheyCame(t *testing.T) {
	r := request(t,
		[]string{"__name__", "up", "job", "j", "zone", "a"},
		[]string{"__name__", "up", "job", "j", "zone", "b"},
		[]string{"zone", "a", "job", "j", "__name__", "up"},
		[]string{"__name__", "up", "job", "jz"},
		[]string{"__name__", "p", "job", "ju"},
		[]string{"__name__", "up", "job", "j", "zone", "a"},
	)
	key := func(i int) string { return string(r.AppendKey(nil, i)) }
	for a := range r.Len() {
		for b := range r.Len() {
			if got, want := key(a) == key(b), a%5 == b%5; got != want {
				t.Errorf("series %d and %d: same key is %v", a, b, got)
			}
			if got, want := r.Same(a, b), a%5 == b%5 || a%5+b%5 == 2 && a != 1; got != want {
				t.Errorf("series %d and %d: the same is %v", a, b, got)
			}
		}
	}
}
