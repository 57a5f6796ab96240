package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/server"
)

// Metrics of one name on several resources are told apart by the names of the resources, and each opens its own chart,
// for any names in PromQL.
func TestSameName(t *testing.T) {
	for _, names := range []string{api.GnocchiNames, api.CeilometerNames} {
		t.Run(names, func(t *testing.T) {
			s, c := start(t, func(o *server.Options) { o.API.PromQLNames = names })
			ids := map[string]string{}
			for _, host := range []string{"web", "db"} {
				ids[host] = send(t, c, host, time.Now(), 100, "load")["load"]
			}
			b := open(t, s.URL(), "")
			shown := "load"
			if names == api.CeilometerNames {
				shown = "ceilometer_load"
			}
			for _, host := range []string{"web", "db"} {
				b.visitHash("explore")
				b.wait("document.querySelectorAll('.tile canvas').length === 2")
				b.wait("document.querySelector('.found button small')?.textContent === '2'")
				b.click(".tile", shown+" · "+host)
				b.wait(fmt.Sprintf("location.hash.includes('m=%s') && document.querySelector('#drawn canvas')",
					ids[host]))
			}
			b.click(".found button", shown)
			b.click(".found ul button", "web") // also the other one
			b.wait(
				"[...document.querySelectorAll('#summary tbody a')].map(e => e.textContent).sort().join() === 'load · db,load · web'")
		})
	}
}

// The list has a line for each name of pushed series, with their number, and opens it to the labels that differ.
// Filters begin with job and instance, and then those that most series have.
func TestPushedNames(t *testing.T) {
	s, c := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i := range 3 {
			line(`up{job="a",instance="host%d"} 1`, i)
			for le := range 4 {
				line(`seconds_bucket{job="a",instance="host%d",le="%d",arch="x%d"} 1`, i, le, i)
			}
		}
		line(`lonely{job="b",aaa="1",zone="far"} 1`)
	})
	b := open(t, s.URL(), "#/explore")
	b.wait("document.querySelectorAll('.found button').length === 3")
	if got := b.texts(".found button"); fmt.Sprint(got) != "[lonelyb ▸seconds_bucket12 ▸up3]" {
		t.Errorf("%q", got)
	}
	b.wait("document.querySelector('.facets .filter')")
	if got := eval[string](b, "[...document.querySelectorAll('.facets .filter')].map(e => e.dataset.label).join(' ')"); !strings.HasPrefix(
		got, "job instance arch ") {
		t.Error(got)
	}
	b.click(".found button", "seconds_bucket")
	b.wait("document.querySelectorAll('.found ul button').length === 16")
	if got := b.texts(".found ul button"); got[0] != "Quantiles 0.5, 0.9, 0.99" ||
		got[1] != "99th percentile by instance" || got[2] != "99th percentile by arch" || got[3] != "All 12 on one chart" ||
		got[4] != "arch=x0, instance=host0, le=0" {
		t.Errorf("%q", got[:5])
	}
	b.click(".found ul button", "All 12")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 12")

	// The page of a metric says its labels.
	var lonely struct {
		Data []map[string]string `json:"data"`
	}
	check(t, c.Do(t.Context(), http.MethodGet, "/api/v1/series?ids=true&match%5B%5D=lonely", nil, &lonely))
	b.visitHash("metric?id=" + lonely.Data[0]["metric_id"])
	b.wait("document.querySelector('#host')")
	if got := b.texts("#host"); got[0] != "aaa=1, job=b, zone=far" {
		t.Errorf("the labels of a metric: %q", got)
	}
}

// push sends lines of the exposition format.
func push(t *testing.T, server string, write func(line func(format string, args ...any))) {
	t.Helper()
	var body strings.Builder
	write(func(format string, args ...any) { fmt.Fprintf(&body, format+"\n", args...) })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/import/prometheus",
		strings.NewReader(body.String()))
	check(t, err)
	r.SetBasicAuth("admin", "secret")
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		t.Fatal(answer.Status)
	}
}
