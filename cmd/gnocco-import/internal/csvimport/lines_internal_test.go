package csvimport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Lines of VictoriaMetrics and of an export are read whole, or rejected by number.
func TestLines(t *testing.T) {
	f := func(text, want string, rejected ...string) {
		t.Helper()
		var said []string
		i, err := New(Options{Client: requests.New(new(client.Client)),
			Reject: func(_ string, line int, reason string) {
				said = append(said, fmt.Sprintf("%d: %s", line, reason))
			}})
		fatal.If(t, err)
		defer i.Close()
		fatal.If(t, i.Lines("f", strings.NewReader(text)))
		var got []string
		fatal.If(t, i.rows.each(func(r *row) error {
			m := i.metrics[r.metric]
			got = append(got, fmt.Sprintf("%s|%s|%s|%s %d %v", m.resource, m, m.unit, m.policy, r.time, r.value))
			return nil
		}))
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, strings.Join(got, "\n"), want)
		}
		if len(said) != len(rejected) {
			t.Fatalf("%s: rejected %q", text, said)
		}
		for j, part := range rejected {
			if !strings.Contains(said[j], part) {
				t.Errorf("%s: rejected %q, not %q", text, said[j], part)
			}
		}
	}
	const up = `{"metric":{"job":"a\"b","__name__":"up"}`
	f(up+`,"values":[1,0.5e-3],"timestamps":[1,2]}`, `|up{job="a\"b"}|| 1000000 1`+"\n"+`|up{job="a\"b"}|| 2000000 0.0005`)
	f(up+`, "values": [ 1 , null,"NaN"], "timestamps": [1.25, 2, 3]}`+"\n\n", `|up{job="a\"b"}|| 1250000 1`+"\n"+
		`|up{job="a\"b"}|| 3000000 NaN`)
	f(up+`,"values":[5,7,9,1],"timestamps":[1,1,1,2]}`, `|up{job="a\"b"}|| 1000000 5`+"\n"+
		`|up{job="a\"b"}|| 1000001 7`+"\n"+`|up{job="a\"b"}|| 1000002 9`+"\n"+`|up{job="a\"b"}|| 2000000 1`)
	f(`{"metric":{"__name__":"up"},"values":[1],"timestamps":[1],"gnocco":{"resource":"r","name":"n","unit":"B",`+
		`"archive_policy":"low","granularity":60}}`+"\n"+
		`{"metric":{},"values":[1],"timestamps":[1],"gnocco":{"resource":"r","name":"n","granularity":3600}}`,
		"r|n|B|low 1000000 1", "2: metric n has other lines of granularity 60 s")
	f("nonsense\n"+up+`,"values":[1],"timestamps":[1,2]}`+"\n"+up+`,"values":[1,2],"timestamps":[1]}`+"\n"+
		up+`,"values":["x"],"timestamps":[1]}`+"\n"+up+`,"values":[1],"timestamps":[-5]}`+"\n"+up+`}`+"\n"+
		`{"metric":{"a":"b"},"values":[1],"timestamps":[1]}`+"\n"+up+`,"values":[1],"timestamps":[99999999999999]}`+"\n"+
		up+`,"values":[7],"timestamps":[1]}`+"\n", `|up{job="a\"b"}|| 1000000 7`,
		"1: invalid character", "2: has 2 timestamps and 1 value", "3: has 1 timestamp and 2 values",
		`4: measures refused: 1 of 1: value "x" is not a number`, `5: measures refused: 1 of 1: timestamp "-5"`,
		"6: timestamps: lack an array", `7: series {a="b"} has no name`, `8: measures refused: 1 of 1: timestamp "99999999999999"`)
	f(up+`,"values":[1,"x",3,1e999,5],"timestamps":[1,2,"y",4,5]}`, `|up{job="a\"b"}|| 1000000 1`+"\n"+`|up{job="a\"b"}|| 5000000 5`,
		`1: measures refused: 3 of 5: timestamp "y"`)
	for _, metric := range []string{`{"__name__":"u","a":"1","a":"1"}`, `{"__name__":"u","a":null}`, `{"__name__":"\ud800"}`,
		`{"__name__":"u","":"x"}`, `5`} {
		f(`{"metric":`+metric+`,"values":[1],"timestamps":[1]}`, "", "1: ")
	}
	f(up+`,"values":[1],"timestamps":[1],"gnocco":{"archive_policy":"low","archive_policy":"high"}}`, "", "1: gnocco is not")
}

// Series are read as an export writes them.
func TestParseSeries(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		labels, err := parseSeries(text)
		got := withLabels(labels).String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	f("up", "up{}")
	f("up{}", "up{}")
	f(`up{job="a",b="x=\"},{",c="\n"}`, `up{b="x=\"},{",c="\n",job="a"}`)
	f(`{__name__="a b",job="a"}`, `a b{job="a"}`)
	f(`up{"a=b"="=",c="d"}`, `up{"a=b"="=",c="d"}`)
	f(`up{ü="d"}`, `up{"ü"="d"}`)
	for _, text := range []string{"up{", `up{job=a}`, `up{job="a"`, `up{job="a"b="c"}`, `up{job="a}`,
		`up{"job"}`, `up{"job""a"}`} {
		f(text, errSeriesText.Error())
	}
}
