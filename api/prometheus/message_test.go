package prometheus_test

import (
	"math"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"
)

// series is what a sender has: labels as name, value pairs, and measures in milliseconds.
type series struct {
	labels []string
	times  []int64
	values []float64
}

// appendMessage encodes a write request as Prometheus does.
func appendMessage(dst []byte, all ...series) []byte {
	for _, s := range all {
		var message []byte
		for i := 0; i < len(s.labels); i += 2 {
			var label []byte
			label = protowire.AppendTag(label, 1, protowire.BytesType)
			label = protowire.AppendString(label, s.labels[i])
			label = protowire.AppendTag(label, 2, protowire.BytesType)
			label = protowire.AppendString(label, s.labels[i+1])
			message = protowire.AppendTag(message, 1, protowire.BytesType)
			message = protowire.AppendBytes(message, label)
		}
		for i, value := range s.values {
			var measure []byte
			measure = protowire.AppendTag(measure, 1, protowire.Fixed64Type)
			measure = protowire.AppendFixed64(measure, math.Float64bits(value))
			measure = protowire.AppendTag(measure, 2, protowire.VarintType)
			measure = protowire.AppendVarint(measure, uint64(s.times[i]))
			message = protowire.AppendTag(message, 2, protowire.BytesType)
			message = protowire.AppendBytes(message, measure)
		}
		dst = protowire.AppendTag(dst, 1, protowire.BytesType)
		dst = protowire.AppendBytes(dst, message)
	}
	return dst
}

func compress(message []byte) []byte { return s2.EncodeSnappy(nil, message) }
