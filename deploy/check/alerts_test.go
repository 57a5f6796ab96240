package check

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const alerts = "../alerts/gnocco.yml"

// Prometheus and vmalert load the alerts, and each fires when it should.
func TestAlerts(t *testing.T) {
	for _, command := range [][]string{{"promtool", "check", "rules", alerts},
		{"promtool", "test", "rules", "../alerts/gnocco_test.yml"}, {"vmalert", "-dryRun", "-rule=" + alerts}} {
		t.Run(strings.Join(command[:2], " "), func(t *testing.T) {
			program, err := exec.LookPath(command[0])
			if err != nil {
				t.Skip(command[0] + " is missing")
			}
			if out, err := exec.Command(program, command[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Alerts and their tests name figures that there are, as the sources spell them.
func TestAlertsNameFigures(t *testing.T) {
	text, err := os.ReadFile(alerts)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := exec.Command("git", "-C", "../..", "grep", "-hE", `"(gnocco_)?[a-z_]+"`, "--",
		"*.go", ":!*_test.go", ":!bench").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`gnocco_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 12 {
		t.Errorf("alerts name %q alone", names)
	}
	for _, name := range names {
		found := strings.Contains(string(sources), `"`+name+`"`)
		for _, parts := range []string{"gnocco_metricd_", "gnocco_store_"} { // the name's end stands alone there
			rest, ok := strings.CutPrefix(name, parts)
			found = found || ok && strings.Contains(string(sources), `"`+rest+`"`)
		}
		if !found {
			t.Errorf("no figure is called %s", name)
		}
	}
}
