package promql

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/budget"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
)

// maxReadRequest bounds a request of remote read, which holds matchers.
const maxReadRequest = 1 << 20

// remoteRead serves POST /api/v1/read, Prometheus' remote read. The handler unpacks the body, a block of snappy: all
// routes look for a form, and would have read it before.
func (a Handlers) remoteRead(w http.ResponseWriter, r *http.Request) {
	r = r.Clone(r.Context())
	r.Header.Del("Content-Encoding")
	a.serve(a.readSamples)(w, r)
}

// readSamples answers with samples or, to clients that prefer them, with chunks that are sent while they are made.
func (a Handlers) readSamples(r *request) (*Answer, error) {
	request, err := a.readRequest(r)
	if err != nil {
		return nil, err
	}
	chunks := slices.Index(request.AcceptedResponseTypes, prompb.ReadRequest_STREAMED_XOR_CHUNKS)
	if samples := slices.Index(request.AcceptedResponseTypes, prompb.ReadRequest_SAMPLES); chunks >= 0 &&
		(samples < 0 || chunks < samples) { // the client prefers the first one
		return a.readChunks(r, request)
	}
	response := &prompb.ReadResponse{}
	for _, query := range request.Queries {
		result := &prompb.QueryResult{}
		err := a.readQuery(r, query, func(s *upstream.Series) error {
			one := &prompb.TimeSeries{Labels: prompb.FromLabels(s.Metric, nil)}
			for _, p := range s.Floats {
				one.Samples = append(one.Samples, prompb.Sample{Timestamp: p.T, Value: p.F})
			}
			for _, p := range s.Histograms {
				one.Histograms = append(one.Histograms, prompb.FromFloatHistogram(p.T, p.H))
			}
			result.Timeseries = append(result.Timeseries, one)
			return nil
		})
		if err != nil {
			return nil, err
		}
		response.Results = append(response.Results, result)
	}
	plain, err := response.Marshal()
	if err != nil {
		return nil, err
	}
	r.release()
	r.w.Header().Set("Content-Type", "application/x-protobuf")
	r.w.Header().Set("Content-Encoding", "snappy")
	web.WriteBody(r.w, http.StatusOK, s2.EncodeSnappy(nil, plain))
	return &Answer{Sent: true}, nil
}

// readRequest reads the body.
func (a Handlers) readRequest(r *request) (*prompb.ReadRequest, error) {
	body, err := a.ReadEncoded(r.w, r.Request, min(a.MaxBodyBytes, maxReadRequest), budget.Documents, web.PlainFactor,
		nil)
	if err != nil {
		return nil, err
	}
	request := &prompb.ReadRequest{}
	n, err := s2.DecodedLen(body)
	if err == nil && n > maxReadRequest {
		err = fmt.Errorf("it holds %d bytes, %d at most", n, maxReadRequest)
	}
	if err == nil {
		body, err = s2.Decode(nil, body)
	}
	if err == nil {
		err = request.Unmarshal(body)
	}
	if err != nil {
		return nil, Bad(fmt.Errorf("the body is not a request of remote read: %w", err))
	}
	return request, nil
}

const lastReadMS = 9e12 // in 2255: a longer range has no Duration

// readQuery calls use with the series of a query, both ends of whose range count. Their memory is the engine's.
func (a Handlers) readQuery(r *request, query *prompb.Query, use func(*upstream.Series) error) error {
	kinds := map[prompb.LabelMatcher_Type]labels.MatchType{prompb.LabelMatcher_EQ: labels.MatchEqual,
		prompb.LabelMatcher_NEQ: labels.MatchNotEqual, prompb.LabelMatcher_RE: labels.MatchRegexp,
		prompb.LabelMatcher_NRE: labels.MatchNotRegexp}
	var matchers []string
	for _, m := range query.Matchers {
		kind, ok := kinds[m.Type]
		if !ok {
			return Bad(errors.New("a matcher has an unknown type"))
		}
		matcher, err := labels.NewMatcher(kind, m.Name, m.Value)
		if err != nil {
			return Bad(err)
		}
		matchers = append(matchers, matcher.String())
	}
	start, end := max(0, query.StartTimestampMs), min(query.EndTimestampMs, lastReadMS)
	if end < start {
		return nil
	}
	// The parser rounds lengths to float64: the range begins a ms earlier.
	q := &evaluation.Query{Expr: fmt.Sprintf("{%s}[%dms]", strings.Join(matchers, ","), end-start+2)}
	return a.instant(r.Context(), r, q, time.UnixMilli(end), func(result *upstream.Result) error {
		matrix, err := result.Matrix()
		for i := range matrix {
			s := &matrix[i]
			s.Floats = slices.DeleteFunc(s.Floats, func(p upstream.FPoint) bool { return p.T < start })
			s.Histograms = slices.DeleteFunc(s.Histograms, func(p upstream.HPoint) bool { return p.T < start })
			if err == nil && len(s.Floats)+len(s.Histograms) > 0 {
				err = use(s)
			}
		}
		return err
	})
}

// samplesPerChunk is what Prometheus' own chunks have.
const samplesPerChunk = 120

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readChunks sends a frame for each series: its length, its checksum, and a message.
func (a Handlers) readChunks(r *request, request *prompb.ReadRequest) (*Answer, error) {
	out := r.stream("application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse")
	for i, query := range request.Queries {
		err := a.readQuery(r, query, func(s *upstream.Series) error {
			chunks, err := chunksOf(s)
			if err != nil {
				return err
			}
			frame, err := (&prompb.ChunkedReadResponse{QueryIndex: int64(i), ChunkedSeries: []*prompb.ChunkedSeries{
				{Labels: prompb.FromLabels(s.Metric, nil), Chunks: chunks}}}).Marshal()
			if err != nil {
				return err
			}
			out.body = binary.AppendUvarint(out.body, uint64(len(frame)))
			out.body = binary.BigEndian.AppendUint32(out.body, crc32.Checksum(frame, castagnoli))
			out.body = append(out.body, frame...)
			return out.piece()
		})
		if err != nil {
			return nil, out.fault(err)
		}
	}
	return &Answer{Sent: true}, out.end()
}

// chunksOf encodes the samples of a series. A native histogram is a chunk of its own.
func chunksOf(s *upstream.Series) (chunks []prompb.Chunk, err error) {
	for rest := s.Floats; len(rest) > 0; {
		some := rest[:min(len(rest), samplesPerChunk)]
		rest = rest[len(some):]
		chunk := chunkenc.NewXORChunk()
		to, err := chunk.Appender()
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			to.Append(0, p.T, p.F)
		}
		chunks = append(chunks, prompb.Chunk{MinTimeMs: some[0].T, MaxTimeMs: some[len(some)-1].T,
			Type: prompb.Chunk_XOR, Data: chunk.Bytes()})
	}
	for _, p := range s.Histograms {
		chunk := chunkenc.NewFloatHistogramChunk()
		to, err := chunk.Appender()
		if err != nil {
			return nil, err
		}
		if _, _, _, err := to.AppendFloatHistogram(nil, 0, p.T, p.H, false); err != nil {
			return nil, err
		}
		chunks = append(chunks, prompb.Chunk{MinTimeMs: p.T, MaxTimeMs: p.T, Type: prompb.Chunk_FLOAT_HISTOGRAM,
			Data: chunk.Bytes()})
	}
	return chunks, nil
}
