package api_test

import "testing"

func TestResourceTypes(t *testing.T) {
	s := newServer(t, nil)
	admin := []string{"user", "admin", "Accept", wantsJSON}
	generic := `{"name": "generic", "attributes": {}, "state": "active"}`
	s.want(t, "GET /v1/resource_type", "", 200, "["+generic+"]")
	s.want(t, "GET /v1/resource_type/generic", "", 200, generic)
	s.want(t, "GET /v1/resource_type/host", "", 404, "~Resource type host does not exist")
	s.want(t, "POST /v1/resource_type", `{"name":"host"}`, 403, "~403")
	refuse := func(body, reason string) {
		t.Helper()
		s.want(t, "POST /v1/resource_type", body, 400, "~"+reason, admin...)
	}
	refuse(`[]`, "expected a dictionary")
	refuse(`{}`, `required key not provided @ data['name']`)
	refuse(`{"name":5}`, `expected str for dictionary value @ data['name']`)
	refuse(`{"name":"host","state":"active"}`, `extra keys not allowed @ data['state']`)
	refuse(`{"name":""}`, `Invalid input: name must not be empty`)
	refuse(`{"name":"host","attributes":[]}`, `expected a dictionary for dictionary value @ data['attributes']`)
	attribute := func(definition, reason string) {
		t.Helper()
		refuse(`{"name":"host","attributes":{"a":`+definition+`}}`, reason)
	}
	attribute(`1`, `expected a dictionary`)
	attribute(`{}`, `required key not provided @ data['attributes']['a']['type']`)
	attribute(`{"type":null}`, `not a valid value`)
	attribute(`{"type":"text"}`, `not a valid value for dictionary value @ data['attributes']['a']['type']`)
	attribute(`{"type":"bool","required":1}`, `expected bool`)
	attribute(`{"type":"bool","min":1}`, `extra keys not allowed @ data['attributes']['a']['min']`)
	attribute(`{"type":"bool","options":{}}`, `extra keys not allowed`)
	attribute(`{"type":"string","max_length":257}`, `value must be at most 256`)
	attribute(`{"type":"string","max_length":0}`, `value must be at least 1`)
	attribute(`{"type":"string","min_length":-1}`, `value must be at least 0`)
	attribute(`{"type":"string","min_length":"1"}`, `expected int`)
	attribute(`{"type":"string","min_length":9,"max_length":2}`, `Invalid input: Resource attribute value min`)
	attribute(`{"type":"number","min":"1"}`, `not a valid value`)
	attribute(`{"type":"number","min":1e999}`, `not a valid value`)
	attribute(`{"type":"number","min":3,"max":2}`, `Invalid input: Resource attribute value min`)
	refuse(`{"name":"host","attributes":{"user_id":{"type":"bool"}}}`, `Resource attribute name user_id is invalid`)

	host :=
		`{"name": "host ✔", "attributes": {"a": {"max_length": 256, "min_length": 0, "required": true, "type": "string"}, ` +
			`"n": {"max": 3, "min": null, "required": false, "type": "number"}}, "state": "active"}`
	w := s.want(t, "POST /v1/resource_type",
		`{"name":"host ✔","attributes":{"a":{"type":"string"},"n":{"type":"number","required":false,"max":3,"min":null}}}`, 201, host, admin...)
	if location := w.Header().Get("Location"); location != "http://example.com/v1/resource_type/host%20%E2%9C%94" {
		t.Errorf("Location %s", location)
	}
	s.want(t, "POST /v1/resource_type", `{"name":"host ✔"}`, 409, "~Resource type host ✔ already exists", admin...)
	s.want(t, "GET /v1/resource_type/host%20%E2%9C%94", "", 200, host)
	s.want(t, "GET /v1/resource_type", "", 200, "["+generic+", "+host+"]")
	s.want(t, "GET /v1/resource", "", 200, `~"host ✔": "http://example.com/v1/resource/host ✔"`)
	s.want(t, "DELETE /v1/resource_type/host%20%E2%9C%94", "", 403, "~403")
	s.want(t, "DELETE /v1/resource_type/generic", "", 400, "~Resource type generic is still in use", admin...)
	s.want(t, "POST /v1/resource/host%20%E2%9C%94", `{"id":"web","a":"x"}`, 201, "~")
	s.want(t, "DELETE /v1/resource_type/host%20%E2%9C%94", "", 400, "~Resource type host ✔ is still in use", admin...)
	s.want(t, "DELETE /v1/resource/host%20%E2%9C%94/web", "", 204, "")
	s.want(t, "DELETE /v1/resource_type/host%20%E2%9C%94", "", 204, "", admin...)
	s.want(t, "DELETE /v1/resource_type/host%20%E2%9C%94", "", 404, "~", admin...)
}

func TestPatchResourceType(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/resource_type",
		`{"name":"host","attributes":{"a/b":{"type":"bool","required":false},"c":{"type":"uuid","required":false}}}`,
		201, "~", "user", "admin")
	s.want(t, "POST /v1/resource/host", `{"id":"web"}`, 201, `~"a/b": null, "c": null, "metrics"`)
	patch := func(body string, status int, want string) {
		t.Helper()
		s.want(t, "PATCH /v1/resource_type/host", body, status, want, "user", "admin", "Content-Type",
			"application/json-patch+json", "Accept", wantsJSON)
	}
	s.want(t, "PATCH /v1/resource_type/host", `[]`, 415, "~", "user", "admin")
	s.want(t, "PATCH /v1/resource_type/host", `[]`, 403, "~", "Content-Type", "application/json-patch+json")
	s.want(t, "PATCH /v1/resource_type/other", `[]`, 404, "~", "user", "admin")
	same := `~{"a/b": {"required": false, "type": "bool"}, "c": {"required": false, "type": "uuid"}}`
	patch(`[]`, 200, same)
	patch(`[{"op":"add","path":"/attributes/d","value":{"type":"bool"}},{"op":"remove","path":"/attributes/d"}]`, 200,
		same)
	for body, reason := range map[string]string{
		`{}`:                         `expected a list`,
		`[1]`:                        `expected a dictionary @ data[0]`,
		`[{"op":"add"}]`:             `required key not provided @ data[0]['path']`,
		`[{"path":"/attributes/c"}]`: `required key not provided @ data[0]['op']`,
		`[{"op":"move","path":"/attributes/c","from":"x"}]`:                                            `extra keys not allowed @ data[0]['from']`,
		`[{"op":"replace","path":"/attributes/c","value":{}}]`:                                         `not a valid value for dictionary value @ data[0]['op']`,
		`[{"op":"remove","path":"/name"}]`:                                                             `not a valid value for dictionary value @ data[0]['path']`,
		`[{"op":"remove","path":5}]`:                                                                   `not a valid value`,
		`[{"op":"remove","path":"/attributes/x"}]`:                                                     `can't remove a non-existent object 'x'`,
		`[{"op":"remove","path":"/attributes/x/y"}]`:                                                   `member 'x' not found`,
		`[{"op":"remove","path":"/attributes/c/type/y"}]`:                                              `has no members`,
		`[{"op":"remove","path":"/attributes/c/type"}]`:                                                `required key not provided @ data['attributes']['c']['type']`,
		`[{"op":"add","path":"/attributes/d"}]`:                                                        `required key not provided @ data[0]['value']`,
		`[{"op":"add","path":"/attributes/d","value":"bool"}]`:                                         `expected dict`,
		`[{"op":"add","path":"/attributes/d","value":{"type":"bool"}}]`:                                `Invalid input: Option 'fill' of resource attribute d is invalid: must not be empty if required=True`,
		`[{"op":"add","path":"/attributes/c","value":{"type":"string"}}]`:                              `Type update is not available yet. Changing uuid to string for attribute c of resource host`,
		`[{"op":"add","path":"/attributes/d","value":{"type":"number","options":{"fill":"x"}}}]`:       `Option 'fill' of resource attribute d is invalid: expected Real`,
		`[{"op":"add","path":"/attributes/d","value":{"type":"number","max":3,"options":{"fill":4}}}]`: `value must be at most 3`,
		`[{"op":"add","path":"/attributes/d","value":{"type":"number","options":{"other":4}}}]`:        `extra keys not allowed`,
		`[{"op":"add","path":"/attributes/type","value":{"type":"bool","required":false}}]`:            `Resource attribute name type is invalid`,
	} {
		patch(body, 400, "~"+reason)
	}
	s.want(t, "GET /v1/resource_type/host", "", 200, same)
	// All or nothing: the second operation fails.
	patch(`[{"op":"remove","path":"/attributes/c"},{"op":"remove","path":"/attributes/c"}]`, 400,
		"~non-existent object 'c'")
	s.want(t, "GET /v1/resource_type/host", "", 200, same)

	patch(
		`[{"op":"remove","path":"/attributes/a~1b"},{"op":"add","path":"/attributes/t","value":{"type":"datetime","options":{"fill":"2017-10-10T10:10:10.5Z"}}}]`,
		200, `~"attributes": {"c": {"required": false, "type": "uuid"}, "t": {"required": true, "type": "datetime"}}`)
	s.want(t, "GET /v1/resource/host/web", "", 200, `~"c": null, "t": "2017-10-10T10:10:10.500000+00:00", "metrics"`)
	s.want(t, "GET /v1/resource/generic/web", "", 200, `~"revision_end": null, "metrics"`)
	patch(`[{"op":"remove","path":"/attributes"}]`, 200, `~"attributes": {}`)
	s.want(t, "PATCH /v1/resource_type/generic",
		`[{"op":"add","path":"/attributes/a","value":{"type":"bool","required":false}}]`, 400, "~", "user", "admin",
		"Content-Type", "application/json-patch+json")
}

// Limits may not shrink below what resources have.
func TestAttributeLimitsStayAboveValues(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/resource_type",
		`{"name":"host","attributes":{"name":{"type":"string"},"size":{"type":"number","min":0},
		"note":{"type":"string","required":false}}}`, 201, "~", "user", "admin")
	patch := func(attribute, value string, status int) {
		t.Helper()
		want := "~"
		if status == 400 {
			want = "~Resource attribute " + attribute + " has values beyond these limits"
		}
		s.want(t, "PATCH /v1/resource_type/host", `[{"op":"add","path":"/attributes/`+attribute+`","value":`+
			value+`}]`, status, want,
			"user", "admin", "Content-Type", "application/json-patch+json")
	}
	patch("name", `{"type":"string","min_length":3,"max_length":9}`, 200) // nothing is there
	patch("name", `{"type":"string"}`, 200)
	s.want(t, "POST /v1/resource/host", `{"id":"a","name":"äöü","size":5}`, 201, "~")
	s.want(t, "POST /v1/resource/host", `{"id":"b","name":"longer","size":7.5}`, 201, "~")
	patch("name", `{"type":"string","max_length":5}`, 400)
	patch("name", `{"type":"string","min_length":4}`, 400)
	patch("name", `{"type":"string","min_length":3,"max_length":6}`, 200)
	patch("size", `{"type":"number","min":5.1}`, 400)
	patch("size", `{"type":"number","min":0,"max":7}`, 400)
	patch("size", `{"type":"number","min":5,"max":7.5}`, 200)
	patch("note", `{"type":"string","required":false,"max_length":1,"min_length":1}`, 200) // none has one
	s.want(t, "PATCH /v1/resource/host/b", `{"name":"long","size":6}`, 200, "~")
	patch("name", `{"type":"string","max_length":4}`, 200) // past states do not count
	patch("size", `{"type":"number","max":6}`, 200)
	s.want(t, "GET /v1/resource/host/b/history", "", 200, `~"name": "longer"`)
	s.want(t, "DELETE /v1/resource/host/b", "", 204, "")
	patch("name", `{"type":"string","max_length":3}`, 200)
}
