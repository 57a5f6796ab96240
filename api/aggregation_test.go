package api_test

import (
	"testing"
	"time"
)

// clock tells the time in seconds since 1970 that now stands at.
func clock(now *int64) func() time.Time {
	return func() time.Time { return time.Unix(*now, 0).UTC() }
}

func TestAggregation(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"p","definition":[{"granularity":86400}],"aggregation_methods":["mean","last"]}`, "user", "admin")
	ids := s.measured(t, "p",
		`[{"timestamp":"2020-01-01","value":1},{"timestamp":"2020-01-02","value":2},{"timestamp":"2020-02-01","value":3}]`,
		`[{"timestamp":"2020-01-01","value":10},{"timestamp":"2020-01-02","value":20},{"timestamp":"2020-02-01","value":30}]`)
	both := "?metric=" + ids[0] + "&metric=" + ids[1]
	path := "/v1/aggregation/metric"
	s.want(t, "GET "+path, "", 200, "[]")
	s.want(t, "GET "+path+both+"&start=2020-01-02T12:00", "", 200,
		`[["2020-01-02T00:00:00+00:00", 86400.0, 11.0], ["2020-02-01T00:00:00+00:00", 86400.0, 16.5]]`)
	s.want(t, "POST "+path+"?reaggregation=sum&stop=2020-01-02", `["`+ids[0]+`","`+ids[1]+`","`+ids[0]+`"]`, 200,
		`[["2020-01-01T00:00:00+00:00", 86400.0, 11.0]]`)
	s.want(t, "GET "+path+both+"&granularity=86400&resample=M", "", 200,
		`[["2020-01-01T00:00:00+00:00", "M", 8.25], ["2020-02-01T00:00:00+00:00", "M", 16.5]]`)
	s.want(t, "GET "+path+both+"&granularity=86400&resample=2+days&aggregation=last&reaggregation=max", "", 200,
		`[["2020-01-01T00:00:00+00:00", 172800.0, 20.0], ["2020-01-31T00:00:00+00:00", 172800.0, 30.0]]`)
	one := "?metric=" + ids[0]
	s.want(t, "GET "+path+one+"&aggregation=last&refresh=true&stop=2020-01-02", "", 200,
		`[["2020-01-01T00:00:00+00:00", 86400.0, 1.0]]`)
	s.want(t, "GET "+path+one+"&granularity=86400&resample=Y", "", 200, `[["2020-01-01T00:00:00+00:00", "Y", 2.0]]`)

	refuse := func(request, body string, status int, part string) {
		t.Helper()
		s.want(t, request, body, status, "~"+part, "Accept", wantsJSON)
	}
	refuse("GET "+path+"?metric=foobar", "", 400, "Invalid input: not a valid value")
	refuse("POST "+path, `["foobar"]`, 400, "not a valid value")
	refuse("POST "+path, `{}`, 400, "expected a list")
	refuse("POST "+path, `[1]`, 400, "not a valid value")
	refuse("GET "+path+"?metric=cee6ef1f-52cc-4a16-bbb5-648aedfd1c37", "", 404,
		"Metric cee6ef1f-52cc-4a16-bbb5-648aedfd1c37 does not exist")
	refuse("GET "+path+both+"&aggregation=wtf", "", 404,
		"Aggregation method 'wtf' at granularity '86400.0' for metric ")
	refuse("GET "+path+one+"&aggregation=max", "", 404, `"aggregation_method": "max"`)
	refuse("GET "+path+one+"&granularity=42", "", 404, "Aggregation method 'mean' at granularity '42.0' for metric "+
		ids[0]+" does not exist")
	refuse("GET "+path+both+"&aggregation=last", "", 400,
		`"reason": "'last' cannot aggregate across metrics", "detail": "reaggregation"`)
	refuse("GET "+path+both+"&resample=60", "", 400, "A granularity must be specified to resample")
	refuse("GET "+path+both+"&granularity=86400&resample=abc", "", 400, "Unable to parse timespan")
	refuse("GET "+path+both+"&fill=asdf", "", 400, `"detail": "fill"`)
	refuse("GET "+path+both+"&refresh=asdf", "", 400, "refresh")
	s.want(t, "GET "+path+both, "", 403, "~403", "user", "jd")
}
