package policy

import (
	"slices"
	"strings"
)

// question is what a check is asked.
type question struct {
	rules  map[string]check
	who    *Credentials
	target Target
}

// check is a node of an expression.
type check interface {
	passes(*question) bool
	leaves(dst []check) []check // appends the checks at the ends
}

type (
	constant bool // "@", "!" and ""
	not      [1]check
	and      []check
	or       []check

	ruleCheck string
	roleCheck struct{ match template }
	// attributeCheck compares a credential, or a literal, with a text that the target fills in.
	attributeCheck struct {
		credential string
		literal    bool
		match      template
	}
)

func (c constant) passes(*question) bool    { return bool(c) }
func (c ruleCheck) passes(q *question) bool { return q.rules[string(c)].passes(q) }
func (c not) passes(q *question) bool       { return !c[0].passes(q) }

func (c and) passes(q *question) bool {
	return !slices.ContainsFunc(c, func(part check) bool { return !part.passes(q) })
}

func (c or) passes(q *question) bool {
	return slices.ContainsFunc(c, func(part check) bool { return part.passes(q) })
}

func (c roleCheck) passes(q *question) bool {
	want, _, ok := c.match.fill(q.target)
	if !ok || want == "" {
		return false
	}
	return slices.ContainsFunc(q.who.Roles, func(role string) bool { return strings.EqualFold(role, want) })
}

func (c attributeCheck) passes(q *question) bool {
	want, null, ok := c.match.fill(q.target)
	switch {
	case !ok:
		return false
	case c.literal:
		return want == c.credential
	case null || want == "":
		return false
	case c.credential == "roles":
		return slices.Contains(q.who.Roles, want)
	}
	return q.who.Attributes[c.credential] == want
}

func (c constant) leaves(dst []check) []check       { return append(dst, c) }
func (c ruleCheck) leaves(dst []check) []check      { return append(dst, c) }
func (c roleCheck) leaves(dst []check) []check      { return append(dst, c) }
func (c attributeCheck) leaves(dst []check) []check { return append(dst, c) }
func (c not) leaves(dst []check) []check            { return c[0].leaves(dst) }
func (c and) leaves(dst []check) []check            { return leavesOf(c, dst) }
func (c or) leaves(dst []check) []check             { return leavesOf(c, dst) }

func leavesOf(parts []check, dst []check) []check {
	for _, part := range parts {
		dst = part.leaves(dst)
	}
	return dst
}
