package api_test

import "testing"

// A metric that is created with labels is the series that a sender pushes with them.
func TestMetricWithLabels(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "cookies")
	const body = `{"archive_policy_name":"cookies","unit":"B","labels":{"job":"j","__name__":"a/b"}}`
	s.want(t, "POST /v1/metric", body, 201, `~"labels": {"__name__": "a/b", "job": "j"}`)
	s.want(t, "POST /v1/metric", body, 400, `~"detail": "a/b"`, "Accept", wantsJSON)
	s.want(t, "POST /api/v1/write", remoteWrite("a/b 7 1767322800000 job=j"), 204, "", "Content-Type",
		"application/x-protobuf", "Content-Encoding", "snappy")
	s.want(t, "GET /v1/metric?labels.job=j", "", 200, `~"unit": "B", "archive_policy": {"name": "cookies"`)
	s.want(t, "GET /api/v1/series?match[]={job=%22j%22}", "", 200, `{"status":"success","data":[{"__name__":"a/b","job":"j"}]}`)
	s.want(t, "POST /v1/resource/generic", `{"id":"web","metrics":{"x":{"archive_policy_name":"cookies","labels":{}}}}`, 400,
		"~extra keys not allowed @ data['metrics']['x']['labels']", "Accept", wantsJSON)
}
