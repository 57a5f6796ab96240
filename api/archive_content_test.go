package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A metric's archive goes into another metric in parts, in their order, and into none that has other measures.
func TestArchiveContent(t *testing.T) {
	s := newServer(t, nil)
	for _, policy := range []string{`{"name":"p","back_window":0,"definition":[{"granularity":"1s"}],
		"aggregation_methods":["sum","max"]}`, `{"name":"q","back_window":0,"definition":[{"granularity":"2s"}],
		"aggregation_methods":["sum","max"]}`} {
		s.want(t, "POST /v1/archive_policy", policy, http.StatusCreated, "~", "user", "admin")
	}
	metric := func(policy string) string {
		return "/v1/metric/" + s.create(t, "/v1/metric", `{"archive_policy_name":"`+policy+`"}`)
	}
	from, to := metric("p"), metric("p")
	random := rand.New(rand.NewPCG(1, 2))
	const measures = 140_000
	for first := 0; first < measures; first += measures / 4 {
		var list []string
		for i := range measures / 4 {
			list = append(list, fmt.Sprintf(`{"timestamp":%d,"value":%v}`, 1e9+first+i, random.NormFloat64()))
		}
		s.want(t, "POST "+from+"/measures", "["+strings.Join(list, ",")+"]", http.StatusAccepted, "")
	}
	get := func(metric, after string) (content, next string) {
		t.Helper()
		var answer struct{ Content, Next string }
		text := s.want(t, "GET "+metric+"/archive/content?after="+after, "", http.StatusOK, "~content").Body.Bytes()
		fatal.If(t, json.Unmarshal(text, &answer))
		return answer.Content, answer.Next
	}
	body := func(content string) string { return `{"content":"` + content + `"}` }
	put := func(metric, content string, status int, text string) {
		t.Helper()
		s.want(t, "PUT "+metric+"/archive/content", body(content), status, text, "user", "admin")
	}
	first, next := get(from, "")
	if next == "" {
		t.Fatalf("one part of %d bytes", len(first))
	}
	second, last := get(from, next)
	if last != "" {
		t.Fatal("more than two parts")
	}
	s.want(t, "PUT "+to+"/archive/content", body(first), http.StatusForbidden, "~", "user", "somebody")
	put(to, "!", http.StatusBadRequest, "~not base64")
	put(to, "", http.StatusBadRequest, "~not base64")
	damaged, err := base64.StdEncoding.DecodeString(first)
	fatal.If(t, err)
	damaged[len(damaged)/2] ^= 4
	put(to, base64.StdEncoding.EncodeToString(damaged), http.StatusBadRequest, "~does not decode")
	put(metric("q"), first, http.StatusBadRequest, "~not of the metric's archive policy")
	put(to, first, http.StatusOK, "~\"written\"")
	put(to, first, http.StatusOK, `{"written": 0}`)
	put(to, second, http.StatusOK, "~\"written\"")
	put(to, first, http.StatusOK, `{"written": 0}`)
	for _, method := range []string{"sum", "max"} {
		path := "/measures?aggregation=" + method
		want := s.want(t, "GET "+from+path, "", http.StatusOK, "~2001-").Body.String()
		if got := s.want(t, "GET "+to+path, "", http.StatusOK, "~2001-").Body.String(); got != want {
			t.Errorf("%s: %.300s and %.300s", method, want, got)
		}
	}
	lateFirst := metric("p")
	put(lateFirst, second, http.StatusOK, "~\"written\"")
	put(lateFirst, first, http.StatusBadRequest, "~has other measures: delete it first")

	for range 20 { // also where the measures are not in the archive yet
		other := metric("p")
		s.want(t, "POST "+other+"/measures", `[{"timestamp":5,"value":1}]`, http.StatusAccepted, "")
		put(other, first, http.StatusBadRequest, "~has other measures: delete it first")
	}
	s.want(t, "POST "+from+"/measures", `[{"timestamp":1000200000,"value":1}]`, http.StatusAccepted, "")
	get(from, "") // takes it in
	s.want(t, "GET "+from+"/archive/content?after="+next, "", http.StatusConflict, "~begin again")
	s.want(t, "GET "+from+"/archive/content?after=%25", "", http.StatusBadRequest, "~after")
}
