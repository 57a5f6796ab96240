package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Gnocco has to answer as Prometheus does. Other answers of VictoriaMetrics are reported, and no error.
func TestPromQLAnswersAreComparedWithPrometheus(t *testing.T) {
	server := func(name, value string) *promqlServer {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":{"result":[{"metric":{"a":"b"},"values":[[1,"`+value+`"]]}]}}`)
		}))
		t.Cleanup(s.Close)
		return &promqlServer{name: name, client: newClient(&Options{}, s.URL, 1)}
	}
	f := func(wantOther, wantErr bool, servers ...*promqlServer) {
		t.Helper()
		other, err := agree(t.Context(), servers, promqlQuery{"q", "/"}, 0)
		if (other != "") != wantOther || (err != nil) != wantErr {
			t.Errorf("%q, %v", other, err)
		}
	}
	one, two := server("gnocco", "1"), server("gnocco", "2")
	prometheus, victoria := server("prometheus", "1"), server("victoria", "2")
	f(false, false, one)
	f(false, false, one, prometheus)
	f(true, false, one, prometheus, victoria)
	f(true, false, one, victoria)
	f(false, true, two, prometheus)
	f(true, true, two, prometheus, victoria)
}
