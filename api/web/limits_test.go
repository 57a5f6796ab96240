package web_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/api/web"
)

// TestReplicaLabels wants names that tell senders apart: an empty one, as of a list that ends with a comma, does not,
// nor does the name of the series.
func TestReplicaLabels(t *testing.T) {
	for label, fine := range map[string]bool{"prometheus_replica": true, " __replica__": true, "": false, " ": false,
		"__name__": false} {
		limits := web.Limits{ReplicaLabels: []string{"replica", label}}
		if err := limits.Validate(); (err == nil) != fine {
			t.Errorf("label %q: %v", label, err)
		}
	}
}
