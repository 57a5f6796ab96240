package counted

import (
	"fmt"
	"strings"
)

// Of writes a number of things: "1 metric", "2 metrics", "3 policies", "4 days", "5 passes", "6 series".
func Of[N ~int | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case n == 1 || strings.HasSuffix(noun, "series"):
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeo"):
		noun = stem + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}
