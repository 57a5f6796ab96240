package influxdb

import (
	"regexp"
	"strings"
)

var createDatabase = regexp.MustCompile(`(?is)^\s*create\s+database\s+` +
	`(?:"((?:[^"\\]|\\.)+)"|([a-z_][a-z0-9_]*))\s*(?:;\s*|with\s.*)?$`)

var unescapeQuoted = regexp.MustCompile(`\\(.)`)

// ParseCreateDatabase returns the name in a query that creates a database; no other query is understood. How long the
// database would keep its data is ignored: archive policies say that.
func ParseCreateDatabase(query string) (name string, ok bool) {
	groups := createDatabase.FindStringSubmatch(query)
	if groups == nil {
		return "", false
	}
	if groups[1] != "" {
		return unescapeQuoted.ReplaceAllString(groups[1], "$1"), true
	}
	return strings.TrimSpace(groups[2]), true
}
