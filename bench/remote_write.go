package bench

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendTimeSeries appends a series to a message of Prometheus' remote write: values one step apart.
func appendTimeSeries(message []byte, labels [][2]string, at time.Time, step time.Duration, values []float64) []byte {
	var series, label, sample []byte
	for _, l := range labels {
		label = nested(nested(label[:0], 1, []byte(l[0])), 2, []byte(l[1]))
		series = nested(series, 1, label)
	}
	for i, v := range values {
		sample = protowire.AppendFixed64(protowire.AppendTag(sample[:0], 1, protowire.Fixed64Type), math.Float64bits(v))
		milliseconds := at.Add(time.Duration(i) * step).UnixMilli()
		sample = protowire.AppendVarint(protowire.AppendTag(sample, 2, protowire.VarintType), uint64(milliseconds))
		series = nested(series, 2, sample)
	}
	return nested(message, 1, series)
}

// remoteWrite sends a compressed message.
func (c *client) remoteWrite(ctx context.Context, body []byte) error {
	return c.post(ctx, "/api/v1/write", ways[0].header, body)
}
