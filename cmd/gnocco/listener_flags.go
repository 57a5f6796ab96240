package main

import (
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/listener/graphite"
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
		all = append(all, listener.Options{Protocol: "graphite", Listen: f.graphite, Stream: true,
			Creator: f.graphiteCreator, Decoder: decoder})
	}
	return all, nil
}
