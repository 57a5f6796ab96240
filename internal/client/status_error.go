package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// StatusError is an answer of 400 and above.
type StatusError struct {
	Method, URL string
	Status      int
	Description string // what the server says about it
	Challenge   string // of 401: how the server wants to be asked, if it says so
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.Method, e.URL, e.Status, http.StatusText(e.Status), e.Description)
}

// newStatusError takes the description out of the body, which is text where something before the API has answered.
func newStatusError(request *http.Request, response *http.Response, body []byte) *StatusError {
	e := &StatusError{Method: request.Method, URL: request.URL.Redacted(), Status: response.StatusCode,
		Challenge: response.Header.Get("WWW-Authenticate")}
	var answer struct {
		Description json.RawMessage `json:"description"`
		Error       string          `json:"error"` // of Prometheus' API
	}
	if json.Unmarshal(body, &answer) == nil && answer.Error != "" {
		e.Description = answer.Error
	} else if json.Unmarshal(answer.Description, &e.Description) != nil {
		if e.Description = string(answer.Description); e.Description == "" {
			e.Description = strings.TrimSpace(string(body))
		}
	}
	return e
}

// HasStatus reports whether err is an answer with this status.
func HasStatus(err error, status int) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status == status
}
