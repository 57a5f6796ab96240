package remote

import (
	"fmt"
	"slices"
)

// DidYouMean returns the word that is nearest to a mistyped one, as the end of a message; "" for none.
func DidYouMean(typed string, words []string) string {
	best, least := "", len(typed)/3+2
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

// distance is how many letters to insert, delete or replace between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{cost, row[j] + 1, diagonal + 1})
		}
	}
	return row[len(b)]
}
