package remote

import (
	"fmt"
	"strings"
)

// DidYouMean returns the word that is nearest to a mistyped one, as the end of a message; "" for none. A third of its
// letters may be wrong.
func DidYouMean(typed string, words []string) string {
	best, least := "", max(1, len(strings.TrimLeft(typed, "-"))/3)+1
	for _, word := range words {
		if d := distance(typed, word); d < least {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance is how many letters to insert, delete or replace, and neighbors to swap, between two words.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(row))
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					cost = min(cost, before[j-1]+1)
				}
			}
			next[j+1] = min(cost, row[j+1]+1, next[j]+1)
		}
		before, row = row, next
	}
	return row[len(b)]
}
