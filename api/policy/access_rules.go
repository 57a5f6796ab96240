package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Rules are the rules of a policy. They are never modified.
type Rules struct {
	checks     map[string]check
	keys       map[string][]string // of the target, that a rule depends on
	overridden map[string]bool
}

// Credentials are what is known of the sender of a request.
type Credentials struct {
	Roles      []string
	Attributes map[string]string // user, user_id, project_id, domain_id …; "" is as good as absent
}

// Target returns an attribute of the object of a request: nil for null, and false if there is no such attribute. A nil
// Target has none.
type Target func(key string) (value any, ok bool)

// Default returns Gnocchi's rules.
func Default() *Rules {
	r, err := Parse(nil)
	if err != nil {
		panic("policy: the default rules: " + err.Error())
	}
	return r
}

// Parse returns Gnocchi's rules but for those that a YAML (or JSON) object of names and expressions replaces; it may
// have further rules, for others to refer to. The error lists every fault.
func Parse(file []byte) (*Rules, error) {
	var overrides map[string]string
	if err := yaml.Unmarshal(file, &overrides); err != nil {
		return nil, fmt.Errorf("policy: not an object of rule names and expressions: %w", err)
	}
	texts := maps.Clone(defaults)
	maps.Copy(texts, overrides)
	r := &Rules{checks: map[string]check{}, keys: map[string][]string{}, overridden: map[string]bool{}}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		c, err := parse(texts[name])
		if err != nil {
			faults = append(faults, fmt.Errorf("policy: rule %q: %w", name, err))
			continue
		}
		r.checks[name] = c
	}
	if faults == nil {
		for _, name := range slices.Sorted(maps.Keys(r.checks)) {
			d := dependencies{rules: r.checks, keys: map[string]bool{}, names: map[string]bool{}}
			if err := d.walk(name, nil); err != nil {
				faults = append(faults, fmt.Errorf("policy: rule %q: %w", name, err))
			}
			r.keys[name] = slices.Sorted(maps.Keys(d.keys))
			for used := range d.names {
				if text, ok := overrides[used]; ok && text != defaults[used] {
					r.overridden[name] = true
				}
			}
		}
	}
	return r, errors.Join(faults...)
}

// Allows reports whether a rule lets these credentials pass. A rule that does not exist lets nobody pass.
func (r *Rules) Allows(rule string, who *Credentials, target Target) bool {
	c, ok := r.checks[rule]
	return ok && c.passes(&question{r.checks, who, target})
}

// Keys returns the attributes of the target that a rule depends on, ascending: with these the same, so is the answer.
func (r *Rules) Keys(rule string) []string { return r.keys[rule] }

// Overridden reports whether a rule, or one that it refers to, is not Gnocchi's.
func (r *Rules) Overridden(rule string) bool { return r.overridden[rule] }

// dependencies collects what a rule depends on.
type dependencies struct {
	rules map[string]check
	keys  map[string]bool
	names map[string]bool // of rules
}

// walk follows a rule; path is the rules that led to it.
func (d *dependencies) walk(name string, path []string) error {
	if slices.Contains(path, name) {
		return fmt.Errorf("refers to itself by way of %q", append(path, name))
	}
	c, ok := d.rules[name]
	if !ok {
		return fmt.Errorf("refers to the rule %q, which does not exist", name)
	}
	if d.names[name] { // walked already
		return nil
	}
	for _, leaf := range c.leaves(nil) {
		switch leaf := leaf.(type) {
		case ruleCheck:
			if err := d.walk(string(leaf), append(slices.Clip(path), name)); err != nil {
				return err
			}
		case roleCheck:
			d.add(leaf.match)
		case attributeCheck:
			d.add(leaf.match)
		}
	}
	d.names[name] = true
	return nil
}

func (d *dependencies) add(t template) {
	for _, key := range t.keys {
		d.keys[key] = true
	}
}
