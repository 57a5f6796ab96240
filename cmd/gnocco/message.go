package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

// message returns an error as people read it, with a metric's name instead of its ID.
func message(err error) string {
	text := remote.Message(err)
	if of, ok := errors.AsType[*seriesError](err); ok {
		text = strings.ReplaceAll(text, of.of.id, of.of.shown())
	}
	return text
}

// didYouMean returns the word that is nearest to a mistyped one, as the end of a message; "" for none.
func didYouMean(typed string, words []string) string {
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
