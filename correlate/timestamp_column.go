package correlate

import (
	"slices"
	"strings"
)

// timestampNames are what columns of timestamps are called, in lower case.
var timestampNames = []string{"timestamp", "time", "date", "datetime"}

// TimestampColumn returns the index of the first column that has the name of a column of timestamps, -1 for none.
func TimestampColumn(names []string) int {
	return slices.IndexFunc(names, func(name string) bool {
		return slices.Contains(timestampNames, strings.ToLower(name))
	})
}
