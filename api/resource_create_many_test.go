package api_test

import "testing"

func TestCreateResources(t *testing.T) {
	s := typed(t)
	post := func(kind, body string, status int, want string) {
		t.Helper()
		s.want(t, "POST /v1/batch/resources/"+kind, body, status, want, "Accept", wantsJSON)
	}
	const other = "3b9e2f6c-0000-4000-8000-00000000000b"
	post("all", `[]`, 201, `{"created": 0}`)
	post("none", `[]`, 404, "~none")
	post("all", `{}`, 400, "~expected a list")
	post("all", `[{"id":"a","s":"one"},7]`, 400, "~expected a dictionary @ data[1]")
	post("all", `[{"id":"a","s":"one"},{"id":"b"}]`, 400, `~"reason": "required key not provided @ data[1]['s']"`)
	post("all", `[{"id":"a","s":"one","metrics":{"cpu":{"archive_policy_name":"none"}}}]`, 400,
		"~Archive policy none does not exist")

	// All or none: with any fault at any place, no resource is there afterwards.
	one := `{"id":"` + aID + `","s":"one","metrics":{"cpu":{"archive_policy_name":"low"}}}`
	post("all", `[`+one+`,`+one+`]`, 409, "~"+aID)
	post("all", `[`+one+`,{"id":"`+other+`","s":"two","metrics":{"cpu":"`+other+`"}}]`, 400, "~"+other)
	s.want(t, "GET /v1/resource/generic", "", 200, `[]`)
	s.want(t, "GET /v1/metric", "", 200, `[]`)

	post("all", `[`+one+`,{"id":"web","s":"two"}]`, 201, `{"created": 2}`)
	s.want(t, "GET /v1/resource/all/"+aID, "", 200, `~"s": "one"`)
	s.want(t, "GET /v1/resource/all/"+aID+"/metric/cpu", "", 200, `~"name": "cpu"`)
	s.want(t, "GET /v1/resource/all/web", "", 200, `~"s": "two"`)
	post("all", `[{"id":"`+other+`","s":"two"},`+one+`]`, 409, "~"+aID)
	s.want(t, "GET /v1/resource/all/"+other, "", 404, "~")
}
