package api_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/prompb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Remote read answers with the samples of a range, both ends included, and with the same ones as chunks.
func TestRemoteRead(t *testing.T) {
	s := newServer(t, nil)
	var lines string
	for i := range 300 {
		lines += fmt.Sprintf("load{host=\"a\"} %d %d\nload{host=\"b\"} %d %d\n", i, 1000*i, -i, 1000*i)
	}
	lines += "load{host=\"c\"} NaN 5000\n"
	s.want(t, "POST /api/v1/import/prometheus", lines, 204, "")
	s.refreshAll(t, "admin")
	read := func(status int, from, to int64, kinds []prompb.ReadRequest_ResponseType,
		matchers ...*prompb.LabelMatcher) []byte {
		t.Helper()
		body, err := (&prompb.ReadRequest{AcceptedResponseTypes: kinds, Queries: []*prompb.Query{
			{StartTimestampMs: from, EndTimestampMs: to, Matchers: matchers}}}).Marshal()
		check(t, err)
		w := s.call(t, "POST /api/v1/read", string(s2.EncodeSnappy(nil, body)), "Content-Type", "application/x-protobuf",
			"Content-Encoding", "snappy", "X-Prometheus-Remote-Read-Version", "0.1.0")
		if w.Code != status {
			t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
		}
		return w.Body.Bytes()
	}
	samples := func(body []byte) (rows []string) {
		t.Helper()
		plain, err := s2.Decode(nil, body)
		check(t, err)
		var response prompb.ReadResponse
		check(t, response.Unmarshal(plain))
		for _, one := range response.Results[0].Timeseries {
			for _, sample := range one.Samples {
				rows = append(rows, fmt.Sprint(one.Labels, sample.Timestamp, " ", sample.Value))
			}
		}
		return rows
	}
	chunks := func(body []byte) (rows []string) {
		t.Helper()
		for len(body) > 0 {
			size, n := binary.Uvarint(body)
			sum, frame := binary.BigEndian.Uint32(body[n:]), body[n+4:n+4+int(size)]
			if crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)) != sum {
				t.Fatal("a frame has another checksum")
			}
			body = body[n+4+int(size):]
			var response prompb.ChunkedReadResponse
			check(t, response.Unmarshal(frame))
			for _, one := range response.ChunkedSeries {
				for _, c := range one.Chunks {
					chunk, err := chunkenc.FromData(chunkenc.EncXOR, c.Data)
					check(t, err)
					for it := chunk.Iterator(nil); it.Next() != chunkenc.ValNone; {
						at, value := it.At()
						if at < c.MinTimeMs || at > c.MaxTimeMs {
							t.Errorf("%d is outside its chunk", at)
						}
						rows = append(rows, fmt.Sprint(one.Labels, at, " ", value))
					}
				}
			}
		}
		return rows
	}
	name := &prompb.LabelMatcher{Name: "__name__", Value: "load"}
	host := func(kind prompb.LabelMatcher_Type, value string) *prompb.LabelMatcher {
		return &prompb.LabelMatcher{Type: kind, Name: "host", Value: value}
	}
	streamed := []prompb.ReadRequest_ResponseType{prompb.ReadRequest_STREAMED_XOR_CHUNKS, prompb.ReadRequest_SAMPLES}
	for _, c := range []struct {
		rows     int
		from, to int64
		matchers []*prompb.LabelMatcher
	}{
		{601, 0, 299_000, []*prompb.LabelMatcher{name}},
		{601, -5, 400_000, []*prompb.LabelMatcher{name}},
		{601, 0, 1 << 31 * 1000, []*prompb.LabelMatcher{name}},
		{601, math.MinInt64, math.MaxInt64, []*prompb.LabelMatcher{name}},
		{3, 5000, 5000, []*prompb.LabelMatcher{name}},
		{2, 5001, 7000, []*prompb.LabelMatcher{name, host(prompb.LabelMatcher_EQ, "a")}},
		{4, 6000, 7000, []*prompb.LabelMatcher{name, host(prompb.LabelMatcher_NEQ, "c")}},
		{2, 6000, 6000, []*prompb.LabelMatcher{name, host(prompb.LabelMatcher_RE, "a|b")}},
		{1, 6000, 6000, []*prompb.LabelMatcher{name, host(prompb.LabelMatcher_NRE, "b|c")}},
		{0, 7000, 6000, []*prompb.LabelMatcher{name}},
		{0, 0, 6000, []*prompb.LabelMatcher{{Name: "__name__", Value: "other"}}},
	} {
		plain := samples(read(200, c.from, c.to, nil, c.matchers...))
		if len(plain) != c.rows {
			t.Errorf("%v: %d rows", c, len(plain))
		}
		if got := chunks(read(200, c.from, c.to, streamed, c.matchers...)); !slices.Equal(got, plain) {
			t.Errorf("%v: %d rows in chunks, %d in samples", c, len(got), len(plain))
		}
	}
	if body := read(400, 0, 5, nil, name, host(prompb.LabelMatcher_RE, "(")); !bytes.Contains(body, []byte("error parsing regexp")) {
		t.Errorf("%s", body)
	}
	read(400, 0, 5, nil, host(9, "x"))
	s.want(t, "POST /api/v1/read", "no snappy", 400, "~not a request of remote read", "Content-Type", "application/x-protobuf")
}
