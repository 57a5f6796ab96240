package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/statsd"
)

// listenerFlags are the flags of listeners without HTTP.
type listenerFlags struct {
	graphite, graphiteCreator string
	graphiteTemplates         []string
}

func (f *listenerFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.graphite, "graphite-listen", "",
		"TCP and UDP address for Graphite's plaintext protocol, such as 127.0.0.1:2003; takes lines from anyone "+
			"(default: none)")
	flags.StringVar(&f.graphiteCreator, "graphite-creator", "", "user who is the creator of Graphite's series")
	flags.StringSliceVar(&f.graphiteTemplates, "graphite-template", nil,
		"how parts of a name become labels, as [FILTER ]PARTS: \"servers.* -.host.name*\"; the first that fits counts; "+
			"may be repeated")
}

// options returns the wanted listeners.
func (f *listenerFlags) options() (all []listener.Options, err error) {
	if f.graphite != "" {
		decoder, err := graphite.New(f.graphiteTemplates)
		if err != nil {
			return nil, err
		}
		all = append(all, listener.Options{Protocol: "graphite", Listen: f.graphite,
			Creator: f.graphiteCreator, Decoder: decoder, Read: decoder.Read})
	}
	return all, nil
}

// statsdFlags are the flags of the listener for statsd's clients.
type statsdFlags struct {
	listen, resource, creator, archivePolicy string
	labels                                   bool
	flushInterval                            time.Duration
}

func (f *statsdFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "statsd-listen", "",
		"UDP address for statsd's messages, such as 127.0.0.1:8125, or unix:/path; takes messages from anyone "+
			"(default: none)")
	flags.StringVar(&f.resource, "statsd-resource-id", "statsd",
		"resource of the metrics of statsd: a UUID, or any text")
	flags.StringVar(&f.creator, "statsd-creator", "", "user who is the creator of the metrics of statsd")
	flags.StringVar(&f.archivePolicy, "statsd-archive-policy", "",
		"archive policy of the metrics of statsd (default: the archive policy rules decide)")
	flags.BoolVar(&f.labels, "statsd-labels", false,
		"make series with labels of statsd's messages, DogStatsD's tags being labels, on every process of the API")
	flags.DurationVar(&f.flushInterval, "statsd-flush-interval", 10*time.Second,
		"how long to gather statsd's messages before storing them")
}

// options returns nil if no listener is wanted.
func (f *statsdFlags) options() *statsd.Options {
	if f.listen == "" {
		return nil
	}
	return &statsd.Options{Listen: f.listen, Labels: f.labels, Resource: f.resource, Creator: f.creator,
		ArchivePolicyName: f.archivePolicy, FlushInterval: f.flushInterval}
}
