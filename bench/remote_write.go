package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendTimeSeries appends a series to a message of Prometheus' remote write: values one step apart.
func appendTimeSeries(message []byte, labels [][2]string, at time.Time, step time.Duration, values []float64) []byte {
	nested := func(dst []byte, number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
	}
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/write", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "snappy")
	request.SetBasicAuth(c.user, c.password)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("write: %s: %.500s", response.Status, text)
	}
	return nil
}
