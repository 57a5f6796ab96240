package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/internal/client"
)

// packages are the names of packages that stand before their errors, which say nothing to people.
var packages = regexp.MustCompile(`(^|: )(?:backup|claim|client|cluster|csvimport|datafolder|keystone|peer|restore|server): `)

// message returns an error as people read it.
func message(err error) string {
	text := err.Error()
	var answer *client.StatusError
	var failed *url.Error
	if errors.As(err, &answer) {
		text = strings.Replace(text, answer.Error(), refusal(answer), 1)
	} else if errors.As(err, &failed) {
		text = strings.Replace(text, failed.Error(), origin(failed.URL)+": "+failed.Err.Error(), 1)
	}
	if of, ok := errors.AsType[*seriesError](err); ok {
		text = strings.ReplaceAll(text, of.of.id, of.of.shown())
	}
	for packages.MatchString(text) {
		text = packages.ReplaceAllString(text, "$1")
	}
	return text
}

// origin returns the scheme and host of a URL.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// refusal returns the reason that a server gives, or else its status.
func refusal(answer *client.StatusError) string {
	reason := answer.Description
	// Gnocchi's text: status, general sentence and reason, with an empty line between each.
	if parts := strings.SplitN(reason, "\n\n", 3); len(parts) == 3 {
		reason = parts[2]
	}
	var fields struct {
		Cause, Reason string
		Detail        any
	}
	if json.Unmarshal([]byte(reason), &fields) == nil && fields.Cause != "" {
		reason = fields.Cause
		if fields.Reason != "" {
			reason += ": " + fields.Reason
		}
		if detail := fmt.Sprint(fields.Detail); fields.Detail != nil {
			reason += " (" + strings.Trim(strings.TrimPrefix(detail, "map"), "[]") + ")"
		}
	}
	reason = strings.TrimSpace(reason)
	if reason == "" || answer.Status == http.StatusUnauthorized {
		address, _, _ := strings.Cut(answer.URL, "?")
		return fmt.Sprintf("%s answers %d %s", address, answer.Status, http.StatusText(answer.Status))
	}
	return reason
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
