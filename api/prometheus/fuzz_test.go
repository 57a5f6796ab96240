package prometheus_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// writeRequestType describes remote write to the protobuf library, whose decoder is ours' judge.
func writeRequestType(t testing.TB) protoreflect.MessageDescriptor {
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type,
		of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name),
			Number: proto.Int32(number), Type: kind.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if of != "" {
			f.TypeName, f.Label = proto.String("."+of), descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		return f
	}
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
	}
	const (
		nested  = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
		bytes   = descriptorpb.FieldDescriptorProto_TYPE_BYTES // UTF-8 is checked later
		double  = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
		integer = descriptorpb.FieldDescriptorProto_TYPE_INT64
	)
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("write.proto"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("WriteRequest", field("timeseries", 1, nested, "TimeSeries"),
				field("metadata", 3, nested, "Metadata")),
			message("TimeSeries", field("labels", 1, nested, "Label"), field("samples", 2, nested, "Sample")),
			message("Label", field("name", 1, bytes, ""), field("value", 2, bytes, "")),
			message("Metadata", field("type", 1, integer, ""), field("metric_family_name", 2, bytes, ""),
				field("help", 4, bytes, ""), field("unit", 5, bytes, "")),
			message("Sample", field("value", 1, double, ""), field("timestamp", 2, integer, "")),
		},
	}, nil)
	fatal.If(t, err)
	return file.Messages().ByName("WriteRequest")
}

// FuzzDecode holds the decoder to the protobuf library's: same verdict, same measures.
func FuzzDecode(f *testing.F) {
	f.Add(appendMessage(nil, series{labels: []string{"__name__", "up", "job", "j"}, times: []int64{1, 2},
		values: []float64{1, math.NaN()}}))
	f.Add([]byte{0x0a, 4, 0x12, 2, 0x10, 7})
	f.Add([]byte{0x0a, 2, 0x12, 0, 0x1a, 2, 0x08, 1})
	f.Add([]byte{0x1a, 2, 0x31, 0x30})
	kind := writeRequestType(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		r := prometheus.WriteRequest{Latest: carbonara.MaxTimestamp}
		r.Decode(message, limit) // as it came: garbage to snappy
		err := r.Decode(compress(message), limit)
		judge := dynamicpb.NewMessage(kind)
		if judgeErr := proto.Unmarshal(message, judge); judgeErr != nil {
			if err == nil {
				t.Fatalf("%x decodes, but: %v", message, judgeErr)
			}
			return
		}
		if err != nil && strings.Contains(err.Error(), "the other version") && len(judge.GetUnknown()) > 0 {
			return // the judge does not know that version
		}
		var times []carbonara.Timestamp
		var values []uint64
		list := judge.Get(kind.Fields().ByNumber(1)).List()
		for i := range list.Len() {
			one := list.Get(i).Message()
			samples := one.Get(one.Descriptor().Fields().ByNumber(2)).List()
			for j := range samples.Len() {
				sample := samples.Get(j).Message()
				fields := sample.Descriptor().Fields()
				milliseconds := sample.Get(fields.ByNumber(2)).Int()
				bits := math.Float64bits(sample.Get(fields.ByNumber(1)).Float())
				if milliseconds >= 0 && milliseconds <= math.MaxInt64/1_000_000 && bits != 0x7ff0000000000002 {
					times, values = append(times, carbonara.Timestamp(milliseconds*1_000_000)), append(values, bits)
				}
			}
		}
		if err != nil {
			t.Fatalf("%x: %v", message, err)
		}
		metadata := judge.Get(kind.Fields().ByNumber(3)).List()
		if metadata.Len() != len(r.Metadata)+r.Others.N {
			t.Fatalf("%x: %d pieces of metadata and %d odd ones, want %d", message, len(r.Metadata), r.Others.N, metadata.Len())
		}
		kept := r.Metadata
		for i := range metadata.Len() {
			one := metadata.Get(i).Message()
			name := one.Get(one.Descriptor().Fields().ByNumber(2)).Bytes()
			if len(kept) > 0 && kept[0].Name == string(name) {
				kept = kept[1:]
			}
		}
		if len(kept) > 0 {
			t.Fatalf("%x: metadata of %q", message, kept[0].Name)
		}
		timestamps, column := r.Columns()
		got := make([]uint64, len(column))
		for i, value := range column {
			got[i] = math.Float64bits(value)
		}
		if !slices.Equal(timestamps, times) || !slices.Equal(got, values) {
			t.Fatalf("%x: %v %x, want %v %x", message, timestamps, got, times, values)
		}
		var key []byte
		for i := range r.Len() {
			key = r.AppendKey(key[:0], i)
			if target, err := r.Target(i); err == nil && (target.Metric == "" || len(target.Resource) > 255) {
				t.Fatalf("%x: target %+v", message, target)
			}
			if name, err := r.Name(i); err == nil && (!name.Labels.Valid() || name.Labels.Get("__name__") == "") {
				t.Fatalf("%x: labels %q", message, name.Labels)
			}
		}
	})
}
