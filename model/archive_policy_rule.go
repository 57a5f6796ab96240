package model

import (
	"cmp"
	"slices"
	"strings"
)

// ArchivePolicyRule chooses the archive policy of metrics that are created without one, by their name.
type ArchivePolicyRule struct {
	Name              string `json:"name"`
	MetricPattern     string `json:"metric_pattern"` // of MatchPattern
	ArchivePolicyName string `json:"archive_policy_name"`
}

// Validate returns a *FieldError if r cannot be kept.
func (r *ArchivePolicyRule) Validate() error {
	if r.MetricPattern != "" { // the empty pattern matches metrics without a name
		if err := checkName("metric_pattern", r.MetricPattern); err != nil {
			return err
		}
	}
	if err := checkName("archive_policy_name", r.ArchivePolicyName); err != nil {
		return err
	}
	return checkName("name", r.Name)
}

// SortArchivePolicyRules orders rules as they are tried: by pattern descending, then by name. The more specific of two
// patterns with a common beginning comes first, since '*' sorts before letters.
func SortArchivePolicyRules(rules []*ArchivePolicyRule) {
	slices.SortFunc(rules, func(a, b *ArchivePolicyRule) int {
		return cmp.Or(strings.Compare(b.MetricPattern, a.MetricPattern), strings.Compare(a.Name, b.Name))
	})
}
