package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/licenses"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gnocco",
		Short: "A time-series database that speaks Gnocchi's REST API",
		Long: `Gnocco stores measures of metrics and keeps their aggregates ready to be read. The archive
policy of a metric says which aggregates are kept, and for how long. Gnocco speaks the REST API
of OpenStack's Gnocchi and needs nothing but a folder.

Every flag can also be set by an environment variable (GNOCCO_MAX_LIMIT for --max-limit) or in
a configuration file, TOML or YAML by its ending (max-limit = 500). Flags override the
environment, and the environment overrides the file. A file that ends in .conf is Gnocchi's own.`,
		Example: `  gnocco serve                          serve the API on 127.0.0.1:8041
  gnocco demo                           serve, and collect this machine's own figures
  gnocco import csv cpu.csv             send the measures of a file to a server`,
	}
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("serve", "Run servers:", newServe(), newAPI(), newMetricd(), newDemo(), newInit(), commandline.NewConfig())
	group("ask", "Ask a server:")
	group("move", "Move data in and out:", newBackup(), newRestore())
	group("look", "Look into data and repair it:", newFsck(), newSacks(), newDoctor(), newCoordination())
	addElsewhere(root)
	root.AddCommand(licenses.NewCommand(licensesOfParts), newVersion())
	addHelpTopics(root)
	commandline.Prepare(root)
	root.SetVersionTemplate("gnocco {{.Version}}\n")
	return root
}

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
		`Ports of serve and api for senders that speak no HTTP: statsd's and Graphite's. They ask for no
credentials. Set them as any other flag: on the command line, in the environment or in a configuration file.`,
		[]string{
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
	{"etcd", "How servers reach etcd by TLS, and log in",
		`Certificates and login of serve, api, metricd, coordination and doctor etcd, for --coordination
etcds://…. Set them as any other flag: on the command line, in the environment or in a configuration file.`,
		[]string{
			"coordination-ca", "coordination-cert", "coordination-cert-key", "coordination-login",
			"coordination-plain-login",
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
