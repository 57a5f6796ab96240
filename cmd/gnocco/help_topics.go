package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpTopic is a group of settings that most servers leave as they are. The help of a command leaves them out, and
// `gnocco help NAME` lists them.
type helpTopic struct {
	name, short, long string
	settings          []string
}

var helpTopics = []helpTopic{
	{"limits", "Bounds of servers, and how long they wait",
		`Bounds on the input and the memory of serve, api and metricd, and how long they wait. The defaults suit
nearly every server. Set them as any other flag: on the command line, in the environment or in a
configuration file.`,
		[]string{
			"checkpoint-interval", "correlation-max-jobs", "correlation-max-metrics", "correlation-max-pairs",
			"correlation-max-values", "drain-delay", "lease-slack", "lease-ttl", "max-body-bytes", "max-connections",
			"max-future", "max-limit", "max-new-series", "max-queries", "max-queued-queries", "max-rows",
			"max-search-terms", "min-free-bytes", "order-wait", "query-timeout", "quota-measures", "quota-requests",
			"quota-series", "slow-request", "statsd-flush-interval", "stop-timeout",
		}},
	{"senders", "How servers take series from senders without HTTP",
		`Ports of serve and api for senders that speak no HTTP: statsd's, Graphite's and collectd's. Only
collectd's may ask for credentials.
Set them as any other flag: on the command line, in the environment or in a configuration file.`,
		[]string{
			"collectd-creator", "collectd-listen", "collectd-security", "collectd-types-db", "collectd-users",
			"graphite-creator", "graphite-listen", "graphite-template",
			"statsd-archive-policy", "statsd-creator", "statsd-labels", "statsd-listen", "statsd-resource-id",
		}},
	{"keystone", "How servers ask Keystone about users",
		`How serve and api ask Keystone who a token belongs to, with --auth-mode keystone. Set them as any
other flag: on the command line, in the environment or in a configuration file.`,
		[]string{
			"keystone-application-credential", "keystone-ca-file", "keystone-project", "keystone-project-domain",
			"keystone-project-domain-id", "keystone-secret", "keystone-secret-file", "keystone-url", "keystone-user",
			"keystone-user-domain", "keystone-user-domain-id",
		}},
}

// addHelpTopics moves the flags of topics from the help of root's commands to topics of their own.
func addHelpTopics(root *cobra.Command) {
	commands := root.Commands()
	for _, topic := range helpTopics {
		var flags pflag.FlagSet
		for _, name := range topic.settings {
			for _, cmd := range commands {
				if flag := cmd.Flags().Lookup(name); flag != nil {
					if flags.Lookup(name) == nil {
						shown := *flag
						flags.AddFlag(&shown)
					}
					flag.Hidden = true
				}
			}
		}
		root.AddCommand(&cobra.Command{Use: topic.name, Short: topic.short,
			Long: topic.long + "\n\n" + flags.FlagUsages()})
	}
}
