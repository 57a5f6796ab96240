package bench

import (
	"context"
	"net/http"
)

// fleetKind is how one kind of server is started, written to and read.
type fleetKind interface {
	program(o *Options) string // where none was named
	command(s *fleetServer) (command []string, ready string)
	create(ctx context.Context, s *fleetServer, p *fleetPart) error // sends the first round, which creates the metrics
	discover(ctx context.Context, s *fleetServer) error             // what later requests need to know of them
	send(ctx context.Context, s *fleetServer, p *fleetPart) error
	request(s *fleetServer, r fleetRead) (method, path string, body []byte)
	parse(answer []byte) (map[int64]float64, error) // means by the start of the minute
	mergeParts(ctx context.Context, s *fleetServer) error
	keepsAcknowledged() bool // also by kill -9
}

// newFleetKind returns nil for an unknown kind.
func newFleetKind(name string) fleetKind {
	switch name {
	case "gnocco-lines":
		return &gnoccoFleet{}
	case "gnocco-json":
		return &gnoccoFleet{byID: true}
	case "victoria":
		return victoriaFleet{}
	case "prometheus":
		return prometheusFleet{}
	case "influxdb":
		return influxFleet{}
	}
	return nil
}

// fleetDatabase is InfluxDB's name for where the measures are; in Gnocco it is a resource type.
const fleetDatabase = "fleet"

// writeLines sends line protocol.
func writeLines(ctx context.Context, s *fleetServer, path string, p *fleetPart) error {
	return s.client.do(ctx, http.MethodPost, path, p.lines(), http.StatusNoContent, nil)
}
