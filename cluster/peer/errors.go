package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// ErrUnreachable says that a process did not answer, or gave another kind of answer. It is a model.ErrUnavailable.
var ErrUnreachable = fmt.Errorf("%w: process of the cluster does not answer", model.ErrUnavailable)

// ErrElsewhere says that a process does not hold the named store: another one may. It is a model.ErrUnavailable.
var ErrElsewhere = fmt.Errorf("%w: held by another process", model.ErrUnavailable)

// errorHeader holds the error that an answer stands for, in its header or, once that is sent, in its trailer: the name
// of the error's kind, a space, and the text of the error, in JSON that is escaped as in a path.
const errorHeader = "Gnocco-Error"

// errorKind is a kind of error that the asking process gets as the answering one had it.
type errorKind struct {
	name   string
	encode func(error) any // nil for an error of another kind
	decode func(text []byte) error
}

// errorKinds are asked in this order.
var errorKinds = []errorKind{
	typedError[model.DamagedError]("damaged"),
	sentinelError("elsewhere", ErrElsewhere),
	typedError[model.RefusedError]("refused"),
	{"other", func(err error) any { return err.Error() }, sentinelError("", ErrUnreachable).decode},
}

// typedError is the kind of a type whose fields JSON keeps.
func typedError[T any, E interface {
	*T
	error
}](name string) errorKind {
	return errorKind{name,
		func(err error) any {
			if e, ok := errors.AsType[E](err); ok {
				return e
			}
			return nil
		},
		func(text []byte) error {
			e := E(new(T))
			if err := json.Unmarshal(text, e); err != nil {
				return fmt.Errorf("%w: %w", ErrUnreachable, err)
			}
			return e
		}}
}

// sentinelError is the kind of a single value.
func sentinelError(name string, sentinel error) errorKind {
	return errorKind{name,
		func(err error) any {
			if errors.Is(err, sentinel) {
				return err.Error()
			}
			return nil
		},
		func(text []byte) error {
			var said string
			_ = json.Unmarshal(text, &said) // for people
			return fmt.Errorf("%w: %s", sentinel, said)
		}}
}

// encodeError returns the errorHeader of an error.
func encodeError(err error) string {
	for _, kind := range errorKinds {
		if told := kind.encode(err); told != nil {
			text, _ := json.Marshal(told) // a string, or a struct of strings
			return kind.name + " " + url.PathEscape(string(text))
		}
	}
	return ""
}

// errorOf returns the error in an answer's header or trailer, nil if there is none.
func errorOf(header http.Header) error {
	name, escaped, _ := strings.Cut(header.Get(errorHeader), " ")
	if name == "" {
		return nil
	}
	text, err := url.PathUnescape(escaped)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	for _, kind := range errorKinds {
		if kind.name == name {
			return kind.decode([]byte(text))
		}
	}
	return fmt.Errorf("%w: error of unknown kind %s: %s", ErrUnreachable, name, text)
}

// fail answers with an error. The status is for people and for proxies: the other side reads errorHeader.
func (p *Process) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrElsewhere):
		status = http.StatusMisdirectedRequest
	case errors.Is(err, model.ErrUnavailable), errors.Is(err, budget.ErrExhausted):
		status = http.StatusServiceUnavailable
	case errors.Is(err, model.ErrInvalid), errors.As(err, new(*json.SyntaxError)):
		status = http.StatusBadRequest
	case r.Context().Err() == nil && p.Logger != nil:
		p.Logger.Error("request of another process failed", "path", r.URL.Path, "error", err)
	}
	w.Header().Set(errorHeader, encodeError(err))
	http.Error(w, err.Error(), status)
}
