package api_test

import (
	"encoding/json"
	"testing"
)

// A measure that is no older than the end of its resource revives it, as in the newest Gnocchi; older ones do not.
func TestRevival(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "low")
	s.want(t, "POST /v1/resource/generic",
		`{"id":"vm","project_id":"p","metrics":{"cpu":{"archive_policy_name":"low"}}}`, 201, "~")
	other := s.create(t, "/v1/metric", `{"archive_policy_name":"low"}`)
	end := func() {
		s.want(t, "PATCH /v1/resource/generic/vm", `{"ended_at":"2100-01-01T12:00:00"}`, 200,
			`~"ended_at": "2100-01-01T12:00:00+00:00"`)
	}
	measure := func(at string) {
		t.Helper()
		s.want(t, "POST /v1/resource/generic/vm/metric/cpu/measures", `[{"timestamp":"`+at+`","value":1}]`, 202, "")
		s.want(t, "GET /v1/resource/generic/vm/metric/cpu/measures?refresh=true", "", 200, "~")
	}
	is := func(ended bool, revisions int) {
		t.Helper()
		want := `~"ended_at": null`
		if ended {
			want = `~"ended_at": "2100-`
		}
		s.want(t, "GET /v1/resource/generic/vm", "", 200, want)
		var history []any
		check(t, json.Unmarshal(s.want(t, "GET /v1/resource/generic/vm/history", "", 200, "~").Body.Bytes(), &history))
		if len(history) != revisions {
			t.Errorf("%d revisions, want %d", len(history), revisions)
		}
	}

	measure("2100-01-01T13:00:00") // looked up before the end
	is(false, 1)
	end()
	is(true, 2)
	measure("2100-01-01T11:59:59")
	is(true, 2)
	s.want(t, "POST /v1/metric/"+other+"/measures", `[{"timestamp":"2100-01-01T13:00:00","value":1}]`, 202, "")
	s.want(t, "GET /v1/metric/"+other+"/measures?refresh=true", "", 200, "~")
	is(true, 2)
	measure("2100-01-01T12:00:00")
	is(false, 3)
	measure("2100-01-01T12:00:01")
	is(false, 3)
	end()
	measure("2100-01-01T12:30:00")
	is(false, 5)

	// A metric that is created since.
	end()
	s.want(t, "POST /v1/batch/resources/metrics/measures?create_metrics=true",
		`{"vm":{"disk":{"archive_policy_name":"low","measures":[{"timestamp":"2100-01-01T12:30:00","value":1}]}}}`, 202,
		"")
	s.want(t, "GET /v1/resource/generic/vm/metric/disk/measures?refresh=true", "", 200, "~")
	is(false, 7)
	// A resource that is created with its end, and one that gets a metric of its own.
	s.want(t, "POST /v1/resource/generic",
		`{"id":"vm2","ended_at":"2100-01-01","metrics":{"cpu":{"archive_policy_name":"low"}}}`, 201, "~")
	s.want(t, "POST /v1/resource/generic/vm2/metric/cpu/measures",
		`[{"timestamp":"2100-01-01T12:00:00","value":1}]`, 202, "")
	s.want(t, "GET /v1/resource/generic/vm2/metric/cpu/measures?refresh=true", "", 200, "~")
	s.want(t, "GET /v1/resource/generic/vm2", "", 200, `~"ended_at": null`)
	s.want(t, "PATCH /v1/resource/generic/vm", `{"ended_at":"2100-01-01T12:00:00","metrics":{"alone":"`+
		other+`"}}`, 200, "~")
	s.want(t, "POST /v1/metric/"+other+"/measures", `[{"timestamp":"2100-01-01T13:30:00","value":1}]`, 202, "")
	s.want(t, "GET /v1/metric/"+other+"/measures?refresh=true", "", 200, "~")
	s.want(t, "GET /v1/resource/generic/vm", "", 200, `~"ended_at": null`)
}
