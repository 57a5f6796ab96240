package main

import (
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	const events = `
{"Action":"output","Package":"a","Test":"TestDevice","Output":"    x_test.go:22: mounted\n"}
{"Action":"output","Package":"a","Test":"TestDevice","Output":"    x_test.go:23: no CUDA device here: ask for one\n"}
{"Action":"output","Package":"a","Test":"TestDevice","Output":"--- SKIP: TestDevice (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestDevice","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestBare","Output":"--- SKIP: TestBare (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestBare","Elapsed":0}
{"Action":"pass","Package":"a","Test":"TestFine","Elapsed":0}
{"Action":"pass","Package":"a","Elapsed":1.5}
{"Action":"output","Package":"b","Test":"TestDevice/sub","Output":"        y_test.go:7: no CUDA device here: ask for one\n"}
{"Action":"skip","Package":"b","Test":"TestDevice/sub","Elapsed":0}
{"Action":"output","Package":"b","Test":"TestBad","Output":"    y_test.go:9: 1, want 2\n"}
{"Action":"fail","Package":"b","Test":"TestBad","Elapsed":0}
{"Action":"fail","Package":"b","Elapsed":0.25}
{"Action":"build-output","ImportPath":"c","Output":"c.go:1: no\n"}
{"Action":"fail","Package":"c","Elapsed":0}
{"Action":"output","Package":"d","Test":"TestHung","Output":"SIGQUIT: quit\n"}
{"Action":"output","Package":"d","Output":"exit status 2\n"}
{"Action":"fail","Package":"d","Elapsed":9}
`
	const want = `pass  a                                                   1.50s
    y_test.go:9: 1, want 2
FAIL  b                                                   0.25s
c.go:1: no
FAIL  c                                                   0.00s
exit status 2
FAIL  d                                                   9.00s
SIGQUIT: quit
skipped    2: no CUDA device here: ask for one
skipped    1: no reason is given
1 passed, 3 failed, 3 skipped
`
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(strings.TrimPrefix(events, "\n"))); err != nil {
		t.Fatal(err)
	}
	if s.end(); out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
