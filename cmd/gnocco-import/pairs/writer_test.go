package pairs_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/pairs"
	"github.com/gnocco-db/gnocco/correlate"
)

var written = []correlate.Pair{{I: 0, J: 1, R: 0.1, Overlap: 10}, {I: 0, J: 2, R: math.NaN(), Overlap: 1},
	{I: 1, J: 2, R: -1, Lag: -3, Overlap: 7}}

func write(t *testing.T, format string, lags bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pairs.New(format, &out, []string{"a", "b\"", "c,d"}, lags)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range written {
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestText(t *testing.T) {
	if got, want := string(write(t, "text", false)), "(0,1) 0.10000000000000001\n(0,2) NaN\n(1,2) -1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(write(t, "text", true)),
		"(0,1) 0.10000000000000001 0\n(0,2) NaN 0\n(1,2) -1 -3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(write(t, "names", true)),
		"(a,b\") 0.10000000000000001 0\n(a,c,d) NaN 0\n(b\",c,d) -1 -3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := pairs.New("xml", nil, nil, false); err == nil {
		t.Error("xml is a format")
	}
}

func TestCSV(t *testing.T) {
	got, err := csv.NewReader(bytes.NewReader(write(t, "csv", false))).ReadAll()
	want := "[[i j x y r lag overlap] [0 1 a b\" 0.10000000000000001 0 10] [0 2 a c,d  0 1] [1 2 b\" c,d -1 -3 7]]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v (%v)", got, want, err)
	}
}

func TestJSONLines(t *testing.T) {
	for i, line := range strings.Split(strings.TrimSpace(string(write(t, "jsonl", false))), "\n") {
		var got struct {
			I, J    int
			X, Y    string
			R       *float64
			Lag     int
			Overlap int64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		p := written[i]
		if got.I != p.I || got.J != p.J || got.Lag != p.Lag || got.Overlap != p.Overlap ||
			(got.R == nil) != math.IsNaN(p.R) || got.R != nil && *got.R != p.R {
			t.Errorf("%s is not %+v", line, p)
		}
	}
}
