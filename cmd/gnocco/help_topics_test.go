package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// mostFlags is how many flags the help of a server may show.
const mostFlags = 45

// Each flag is in the help of its command, or in a topic.
func TestHelp(t *testing.T) {
	help := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		root := newRoot()
		root.SetOut(&out)
		root.SetArgs(args)
		fatal.If(t, root.Execute())
		return out.String()
	}
	topics := help("help", "limits") + help("help", "keystone") + help("help", "senders") + help("help", "etcd")
	names := func(text, flag string) bool { // a boolean's name is followed by [=true|false]
		return strings.Contains(text, "--"+flag+" ") || strings.Contains(text, "--"+flag+"[")
	}
	for _, name := range []string{"serve", "api", "metricd", "demo"} {
		text := help(name, "--help")
		shown := strings.Count(text, "\n      --") + strings.Count(text, "\n  -h, --")
		if shown > mostFlags {
			t.Errorf("the help of %s shows %d flags, more than %d", name, shown, mostFlags)
		}
		cmd, _, err := newRoot().Find([]string{name})
		fatal.If(t, err)
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Name != "test-clock-shift" && !names(text, flag.Name) && !names(topics, flag.Name) {
				t.Errorf("no help shows --%s of %s", flag.Name, name)
			}
		})
	}
	for _, topic := range helpTopics {
		for _, setting := range topic.settings {
			if !names(topics, setting) {
				t.Errorf("topic %s names --%s, which no command has", topic.name, setting)
			}
		}
		if !slices.IsSorted(topic.settings) {
			t.Errorf("topic %s is not sorted", topic.name)
		}
	}
}
