package lineprotocol_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/influxdb"
	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
	"github.com/gnocco-db/gnocco/model"
)

// FuzzDecode looks for panics, and for equal keys of different targets.
func FuzzDecode(f *testing.F) {
	f.Add("m,host=h,t=v f=123,g=\"x\" 1510581804179554816\nm,host=h f=1i")
	f.Add(`"m, 1",host="h \"x\"" "f=g"=1 5`)
	f.Add("m,host=h f=1,g=2\nm,host=h f=3,g=4 5\nm,host=h fg=1,f=2")
	f.Add("m,host=h f=1e5,g=t\r\n# x\n\\,host=\\ f=1\nm,host=h f=-1u 5")
	var l lineprotocol.Lines
	f.Fuzz(func(t *testing.T, body string) {
		influxdb.ParseCreateDatabase(body)
		if faults := decode(t, &l, body, nanoseconds()); len(faults) > l.Total {
			t.Fatalf("%q: %d faults of %d lines", body, len(faults), l.Total)
		}
		if len(l.Timestamps) != l.Len() {
			t.Fatalf("%q: %d timestamps of %d values", body, len(l.Timestamps), l.Len())
		}
		if most := lineprotocol.MostMeasures([]byte(body)); most < l.Len() {
			t.Fatalf("%q: %d measures, not at most %d", body, l.Len(), most)
		}
		targets, series := map[string]lineprotocol.Target{}, map[string]model.Labels{}
		for i := range l.Len() {
			key := string(l.AppendKey(nil, i))
			target, err := l.Target(i, "host")
			if !l.Timestamps[i].Valid() || math.IsNaN(l.Values[i]) {
				t.Fatalf("%q: measure %d, %v", body, l.Timestamps[i], l.Values[i])
			}
			if err != nil {
				continue
			}
			if seen, ok := targets[key]; ok && seen != *target {
				t.Fatalf("%q: targets %v and %v have one key", body, seen, *target)
			}
			targets[key] = *target
			labels, err := l.Labels(i, "telegraf")
			if err != nil || !labels.Valid() || labels.Get("db") == "" {
				t.Fatalf("%q: labels %q, %v", body, labels, err)
			}
			if seen, ok := series[key]; ok && seen != labels {
				t.Fatalf("%q: series %q and %q have one key", body, seen, labels)
			}
			series[key] = labels
		}
		lines := map[string]string{} // the targets of all measures of a line, by its key
		for i := 0; i < l.Len(); {
			end := l.LineEnd(i)
			if end <= i || end > l.Len() {
				t.Fatalf("%q: measures %d to %d", body, i, end)
			}
			key, of := string(l.AppendLineKey(nil, i, end)), ""
			for ; i < end; i++ {
				target, _ := l.Target(i, "host")
				of += fmt.Sprintf("%+q", target)
			}
			if seen, ok := lines[key]; ok && seen != of {
				t.Fatalf("%q: lines of %s and %s have one key", body, seen, of)
			}
			lines[key] = of
		}
	})
}

// FuzzRoundTrip writes a line as clients do and reads it back.
func FuzzRoundTrip(f *testing.F) {
	f.Add("cpu", "host name", "a=b", "v,alue", "f", 1.5, int64(5))
	f.Add(`"`, `\`, `\ `, `"x"`, `a\`, -1e-300, int64(0))
	f.Add("0", "0", "0", "0", "\t", -1e-300, int64(0))
	f.Add("#", "\t", "\t", "\t", "\tf\t", 1.0, int64(1))
	// A tab around a name is a blank: only quotes make it part of the name.
	write := func(name string) string {
		if strings.ContainsAny(name[:1], "\"#\t") || strings.HasSuffix(name, `\`) || strings.HasSuffix(name, "\t") {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		return strings.NewReplacer(" ", `\ `, ",", `\,`, "=", `\=`).Replace(name)
	}
	f.Fuzz(func(t *testing.T, measurement, host, tag, text, name string, value float64, at int64) {
		for _, part := range []string{measurement, host, tag, text, name} {
			if part == "" || strings.ContainsAny(part, "\r\n") || !utf8.ValidString(part) {
				return
			}
		}
		if at < 0 || tag == "host" || math.IsNaN(value) || math.IsInf(value, 0) {
			return
		}
		line := write(measurement) + ",host=" + write(host) + "," + write(tag) + "=" + write(text) + " " +
			write(name) + "=" + strconv.FormatFloat(value, 'g', -1, 64) + " " + strconv.FormatInt(at, 10)
		var l lineprotocol.Lines
		if faults := decode(t, &l, line, nanoseconds()); faults != nil {
			t.Fatalf("%q: %v", line, faults)
		}
		if l.Len() != 1 || l.Values[0] != value || int64(l.Timestamps[0]) != at {
			t.Fatalf("%q: %v %v", line, l.Timestamps, l.Values)
		}
		want := lineprotocol.Target{Resource: host,
			Metric: strings.ReplaceAll(measurement+"."+name+"@"+tag+"="+text, "/", "_")}
		if target, err := l.Target(0, "host"); err != nil || *target != want {
			t.Fatalf("%q: %v, %v, want %v", line, target, err, want)
		}
	})
}
