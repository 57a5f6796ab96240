package handlers

import (
	"encoding/json"
	"testing"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/api/web"
)

// Results are only for users to whom the expression gives the same: neither for those who see less, nor for those who
// see more.
func TestWhoSeesTheSame(t *testing.T) {
	user := func(name, project string, roles ...string) *auth.Identity {
		return &auth.Identity{User: name, ProjectID: project, Credentials: policy.Credentials{Roles: roles,
			Attributes: map[string]string{"user": name, "project_id": project}}}
	}
	own, err := policy.Parse([]byte(`"get measures": "user_id:%(creator)s or role:admin"`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(rules *policy.Rules, owner, who *auth.Identity, want bool) {
		t.Helper()
		a := &Handlers{Env: &web.Env{Authorizer: web.Authorizer{Policy: rules}}}
		text, err := json.Marshal(owner)
		if got := a.seeSame(who, text); err != nil || got != want {
			t.Errorf("%+v for the rules of %+v: %t, want %t (%v)", who, owner, got, want, err)
		}
	}
	f(policy.Default(), user("anna", ""), user("anna", ""), true)
	f(policy.Default(), user("anna", ""), user("bob", ""), false)
	f(policy.Default(), user("anna", ""), user("admin", "", "admin"), false) // who sees more would get less
	f(policy.Default(), user("admin", "", "admin"), user("anna", ""), false)
	f(policy.Default(), user("admin", "", "admin"), user("root", "", "admin"), true)
	f(policy.Default(), user("a:p", "p", "member"), user("b:p", "p", "member"), true)
	f(policy.Default(), user("a:p", "p", "member"), user("b:p", "p", "member", "service"), false)
	f(policy.Default(), user("a:p", "p", "member"), user("a:q", "q", "member"), false)
	f(own, user("a:p", "p", "member"), user("b:p", "p", "member"), false) // the rule names the user
	f(own, user("a:p", "p", "member"), user("a:p", "p", "member"), true)
	a := &Handlers{Env: &web.Env{Authorizer: web.Authorizer{Policy: policy.Default()}}}
	if a.seeSame(user("anna", ""), nil) {
		t.Error("a group without an owner is for everybody")
	}
}
