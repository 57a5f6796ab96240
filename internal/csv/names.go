package csv

import (
	"slices"
	"strconv"
	"strings"
)

// Names returns the names of columns: from the header, with the record above unless they are unique, or numbers.
func Names(header, above [][]byte, noHeader bool) []string {
	names := make([]string, len(header))
	for i, field := range header {
		names[i] = strings.TrimSpace(string(field))
		if noHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	if len(above) != len(header) || noHeader || unique(names) {
		return names
	}
	group := ""
	for i, field := range above { // of several columns each, over the first of them
		if text := strings.TrimSpace(string(field)); text != "" {
			group = text
		}
		if names[i] != "" && group != "" && group != names[i] {
			names[i] = group + "." + names[i]
		}
	}
	return names
}

func unique(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) == len(names)
}
