package policy_test

import (
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func target(pairs map[string]any) policy.Target {
	return func(key string) (any, bool) {
		value, ok := pairs[key]
		return value, ok
	}
}

func TestExpressions(t *testing.T) {
	who := &policy.Credentials{Roles: []string{"Member", "reader"},
		Attributes: map[string]string{"user_id": "u", "project_id": "p", "domain_id": ""}}
	about := target(map[string]any{"project_id": "p", "owner": "other", "none": nil, "empty": "", "on": true,
		"host": "web", "n": 3, "role": "member", "resource.project_id": "p"})
	f := func(expression string, want bool) {
		t.Helper()
		rules, err := policy.Parse([]byte("helper: 'role:member'\nit: '" +
			strings.ReplaceAll(expression, "'", "''") + "'\n"))
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if got := rules.Allows("it", who, about); got != want {
			t.Errorf("%s: %v", expression, got)
		}
	}
	f("", true)
	f("@", true)
	f("!", false)
	f("not !", true)
	f("not not @", true)
	f("role:member", true)
	f("role:READER", true)
	f("role:admin", false)
	f("role:%(role)s", true)
	f("roles:reader", true)
	f("rule:helper", true)
	f("NOT rule:helper", false)
	f("project_id:%(project_id)s", true)
	f("project_id:%(resource.project_id)s", true)
	f("project_id:%(owner)s", false)
	f("project_id:%(absent)s", false)
	f("project_id:p", true)
	f("user_id:u and project_id:p", true)
	f("user_id:u AND project_id:x", false)
	f("user_id:x and user_id:u or project_id:p", true)
	f("user_id:u or user_id:u and user_id:x", true) // and binds more
	f("(user_id:u or user_id:u) and user_id:x", false)
	f("((user_id:u))", true)
	f("not (user_id:x or role:admin)", true)
	f("not user_id:x and role:admin", false)
	f("True:%(on)s", true)
	f("'web':%(host)s", true)
	f("3:%(n)s", true)
	f("None:%(none)s", true)
	f("domain_id:%(none)s", false)  // what is absent here is not what is absent there
	f("domain_id:%(empty)s", false) // nor is it with empty texts
	f("nothing:%(none)s", false)
	f("user_id:%%u", false)
}

func TestFaults(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		_, err := policy.Parse([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	f("[]", "not an object")
	f("it: [[x]]", "not an object")
	f("it: admin", `rule "it": expected a check such as role:admin, found "admin"`)
	f("it: role:admin or", "found the end")
	f("it: role:a role:b", `expected the end, found "role:b"`)
	f("it: (role:a", "not closed")
	f("it: role:a)", "expected the end")
	f("it: rule:gone", `"gone", which does not exist`)
	f("{a: 'rule:b', b: 'rule:a'}", "refers to itself")
	f("it: user:%(x", "after % has to follow")
	f("it: http://localhost/x", "another server")
	f("{a: 'x', b: 'y'}", `rule "b"`) // all faults, not the first alone
	f("it: '"+strings.Repeat("(", 2000)+"'", "more than")
}

// Each default rule, for each sort of user.
func TestDefaults(t *testing.T) {
	users := map[string]*policy.Credentials{
		"admin": {Roles: []string{"admin"}, Attributes: map[string]string{"user": "a:pa", "user_id": "a",
			"project_id": "pa"}},
		"service": {Roles: []string{"service"}, Attributes: map[string]string{"user": "s:ps", "user_id": "s",
			"project_id": "ps"}},
		"creator": {Roles: []string{"member"}, Attributes: map[string]string{"user": "c:pc", "user_id": "c",
			"project_id": "pc"}},
		"mate": {Roles: []string{"member"}, Attributes: map[string]string{"user": "d:pc", "user_id": "d",
			"project_id": "pc"}},
		"owner": {Roles: []string{"member"}, Attributes: map[string]string{"user": "o:po", "user_id": "o",
			"project_id": "po"}},
		"other": {Roles: []string{"member"}, Attributes: map[string]string{"user": "x:px", "user_id": "x",
			"project_id": "px"}},
		"nobody": {},
	}
	about := target(map[string]any{"creator": "c:pc", "created_by_user_id": "c", "created_by_project_id": "pc",
		"project_id": "po", "resource.project_id": "po"})
	// Letters of permitted users: a(dmin), s(ervice), c(reator), m(ate), o(wner); "*" for everyone.
	letters := map[string]string{"admin": "a", "service": "s", "creator": "c", "mate": "m", "owner": "o",
		"other": "x", "nobody": "n"}
	rules := policy.Default()
	for rule, may := range map[string]string{
		"get status":      "a",
		"create resource": "*", "get resource": "acmo", "update resource": "ascm", "delete resource": "acm",
		"delete resources": "acm", "list resource": "acmo", "search resource": "ascmo",
		"create resource type": "as", "get resource type": "*", "update resource type": "as",
		"delete resource type": "a", "list resource type": "*",
		"create archive policy": "as", "get archive policy": "*", "update archive policy": "a",
		"delete archive policy": "a", "list archive policy": "*",
		"create archive policy rule": "a", "get archive policy rule": "*", "update archive policy rule": "a",
		"delete archive policy rule": "a", "list archive policy rule": "*",
		"create metric": "*", "get metric": "ascmo", "delete metric": "acm", "list metric": "acmo",
		"search metric": "acmo",
		"post measures": "ascm", "get measures": "ascmo",
		"no such rule": "",
	} {
		for name, who := range users {
			want := may == "*" || strings.Contains(may, letters[name])
			if got := rules.Allows(rule, who, about); got != want {
				t.Errorf("%s may %s: %v", name, rule, got)
			}
		}
	}
	// In mode basic there are users only.
	jd := &policy.Credentials{Attributes: map[string]string{"user": "jd"}}
	if !rules.Allows("post measures", jd, target(map[string]any{"creator": "jd", "created_by_project_id": ""})) ||
		rules.Allows("post measures", jd, target(map[string]any{"creator": "foobar", "created_by_project_id": ""})) {
		t.Error("a user is not who they are, or someone else")
	}
}

func TestOverride(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"creator": "user:%(creator)s", "get status": "role:admin"}`))
	fatal.If(t, err)
	if !rules.Overridden("post measures") || rules.Overridden("get status") || rules.Overridden("list resource") {
		t.Error("not those rules count as overridden that are")
	}
	if got := strings.Join(rules.Keys("get measures"), " "); got != "creator resource.project_id" {
		t.Errorf("get measures depends on %s", got)
	}
}

// FuzzParse: every file is refused, or its rules answer.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`it: role:admin and (not user:%(creator)s or rule:creator)`))
	f.Add([]byte(`{"it": "True:%(on)s or !", "a": "rule:it"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		rules, err := policy.Parse(file)
		if err != nil {
			return
		}
		who := &policy.Credentials{Roles: []string{"member"}, Attributes: map[string]string{"user": "u"}}
		rules.Allows("it", who, target(map[string]any{"creator": "u", "on": nil}))
		rules.Allows("it", who, nil)
		if rules.Allows("get status", who, nil) && !rules.Overridden("get status") {
			t.Fatal("Gnocchi's rule has changed, and does not say so")
		}
	})
}
