package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gnocco-db/gnocco/internal/client"
)

// packages are the names of packages that stand before their errors, which say nothing to people.
var packages = regexp.MustCompile(`(^|: )(?:backup|claim|client|cluster|csvimport|datafolder|keystone|peer|restore|server): `)

// Message returns an error as people read it: without names of packages, addresses of requests and JSON.
func Message(err error) string {
	text := err.Error()
	var answer *client.StatusError
	var failed *url.Error
	if errors.As(err, &answer) {
		text = strings.Replace(text, answer.Error(), refusal(answer), 1)
	} else if errors.As(err, &failed) {
		text = strings.Replace(text, failed.Error(), origin(failed.URL)+": "+failed.Err.Error(), 1)
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
