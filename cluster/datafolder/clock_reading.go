package datafolder

import (
	"fmt"
	"strconv"
	"strings"
)

// The latest reading of any clock, in nanoseconds since 1970, is kept in the name of an empty file:
// clocks/latest.<reading>. The greatest of several counts.
const latestReading = "latest."

// LatestReading returns the latest reading that KeepReading was given, 0 for none.
func (f *Folder) LatestReading() (latest int64, err error) {
	names, err := f.clockNames()
	for _, name := range names {
		if at, ok := parseReading(name); ok {
			latest = max(latest, at)
		}
	}
	return latest, err
}

// KeepReading makes LatestReading return at, or more, also after a power cut.
func (f *Folder) KeepReading(at int64) error {
	return f.keepName(fmt.Sprint(latestReading, at), func(other string) bool {
		before, ok := parseReading(other)
		return ok && before < at
	})
}

func parseReading(name string) (at int64, ok bool) {
	text, ok := strings.CutPrefix(name, latestReading)
	at, err := strconv.ParseInt(text, 10, 64)
	return at, ok && err == nil
}
