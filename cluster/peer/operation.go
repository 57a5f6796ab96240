package peer

import (
	"context"
	"net/http"
)

// Operation answers the requests of one operation, at /peer/ and its name.
type Operation struct {
	name   string
	answer func(p *Process) handler
}

// NewOperation returns an operation whose requests do answers. A long one may take longer than a client waits for the
// start of an answer: the header goes out first, and says that the work has begun.
func NewOperation[Request, Answer any](name string, long bool,
	do func(context.Context, *Request) (Answer, error)) Operation {
	return Operation{name, func(p *Process) handler {
		if !long {
			return inJSON(do)
		}
		return func(w http.ResponseWriter, r *http.Request) error {
			var request Request
			if err := readJSON(r, &request); err != nil {
				return err
			}
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			answer, err := do(r.Context(), &request)
			if err != nil {
				w.Header().Set(http.TrailerPrefix+errorHeader, encodeError(err))
				return nil
			}
			return writeJSON(w, answer)
		}
	}}
}

// Ask sends a request of an operation to a process and returns its answer.
func Ask[Answer any](ctx context.Context, c *Client, address, name string, request any) (answer Answer, err error) {
	err = c.call(ctx, address, name, request, &answer)
	return answer, err
}
