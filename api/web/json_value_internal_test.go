package web

import (
	"errors"
	"testing"
)

// Of several keys that are not allowed, the first by name is reported, in any order of the map.
func TestFieldsTellTheFirstExtraKey(t *testing.T) {
	for range 20 {
		in := Node{Value: map[string]any{"id": "a", "zone": 1, "colour": 2, "place": 3}}
		_, err := in.Fields("id*", "name")
		var fault *Error
		if !errors.As(err, &fault) {
			t.Fatal(err)
		}
		if cause, _ := fault.Detail.(Cause); cause.Reason != "extra keys not allowed @ data['colour']" {
			t.Fatalf("%+v", fault.Detail)
		}
	}
}

func BenchmarkFields(b *testing.B) {
	in := Node{Value: map[string]any{"id": "host", "user_id": "u", "project_id": "p", "started_at": "2026-01-01",
		"metrics": map[string]any{}, "rack": "r1", "memory": 4.0, "spare": true}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := in.Fields("id*", "user_id", "project_id", "started_at", "ended_at", "metrics", "host", "rack",
			"memory", "spare"); err != nil {
			b.Fatal(err)
		}
	}
}
