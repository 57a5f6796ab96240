package console_test

import (
	"fmt"
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
				b.wait(
					fmt.Sprintf(
						"document.querySelectorAll('.found button').length === 2 && document.querySelector('.found').textContent.includes(%q)", host))
				b.click(".tile", shown+" · "+host)
				b.wait(fmt.Sprintf("location.hash.includes('m=%s') && document.querySelector('#drawn canvas')",
					ids[host]))
			}
			b.click(".found button", "web") // also the other one
			b.wait(
				"[...document.querySelectorAll('#summary tbody a')].map(e => e.textContent).sort().join() === 'load · db,load · web'")
		})
	}
}
