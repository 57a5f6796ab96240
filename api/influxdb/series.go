package influxdb

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/model"
)

// health answers the clients of InfluxDB 2.
func (a *Handlers) health(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, struct {
		Name    string   `json:"name"`
		Message string   `json:"message"`
		Status  string   `json:"status"`
		Checks  []string `json:"checks"`
		Version string   `json:"version"`
	}{"gnocco", "ready for writes", "pass", []string{}, version.Number})
}

// likeInflux serves h to users, with credentials as InfluxDB's clients send them. Errors have InfluxDB's form.
func (a *Handlers) likeInflux(h web.UserHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.WithIdentity(h)(w, a.withCredentials(r)); err != nil {
			a.FailAs(w, r, err, func(status int, text string) { _ = writeError(w, status, text) })
		}
	}
}

// errorCodes are InfluxDB 2's words for statuses.
var errorCodes = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not found", http.StatusRequestEntityTooLarge: "request too large",
	http.StatusTooManyRequests: "too many requests", http.StatusServiceUnavailable: "unavailable",
}

// writeError answers in the form of InfluxDB 2, with the error of InfluxDB 1 beside it.
func writeError(w http.ResponseWriter, status int, text string) error {
	code := cmp.Or(errorCodes[status], "internal error")
	return web.WriteJSON(w, status, struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Error   string `json:"error"`
	}{code, text, text})
}

// querySeries accepts the creation of a database, which needs no work here: clients insist on it.
func (a *Handlers) querySeries(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	if err := a.parseForm(w, r); err != nil {
		return err
	}
	if _, ok := ParseCreateDatabase(r.Form.Get("q")); !ok {
		return &web.Error{Status: http.StatusNotImplemented,
			Detail: "The only query is CREATE DATABASE. PromQL has its own API below /api/v1"}
	}
	type result struct {
		Statement int `json:"statement_id"`
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Results []result `json:"results"`
	}{[]result{{}}})
}

// writeSeries accepts lines whose fields are series with labels. The parameter names the database, and preset is the
// precision without one.
func (a *Handlers) writeSeries(parameter, preset string) web.UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		query := r.URL.Query()
		precision, ok := lineprotocol.ParsePrecision(cmp.Or(query.Get("precision"), preset))
		if !ok {
			return web.BadRequest("Unknown precision %.20q", query.Get("precision"))
		}
		partly, err := strconv.ParseBool(cmp.Or(query.Get("accept_partial"), "true"))
		if err != nil {
			return web.BadRequest("accept_partial has to be true or false, not %.20q", query.Get("accept_partial"))
		}
		lead := partial
		if !partly { // of InfluxDB 3: all lines or none
			lead = "nothing was written: "
		}
		s := a.pool.Get()
		defer func() { a.pool.Put(s, s.bytes()) }()
		factor, err := a.readBody(w, r, s)
		if err != nil {
			return err
		}
		var refused web.RefusedLines
		s.rows.lines.TextAlone = false
		if err := a.decode(r.Context(), s, factor, precision, &refused); err != nil {
			return err
		}
		if refused.Count() > 0 && !partly {
			a.writer.Refuse(protocol, "unreadable", s.rows.lines.Total, refused.Text(s.rows.lines.Total))
			return writeError(w, http.StatusBadRequest, lead+refused.Text(s.rows.lines.Total))
		}
		database := query.Get(parameter)
		push := series.Push{Creator: who.User, Rights: a.RightsOf(who), Protocol: protocol, Scope: database,
			Rows: labelledRows{&s.rows, database}, MaxFuture: ingest.MaxFutureOfSenders, Whole: !partly,
			Drop: func(row, _ int, err error) { refused.Drop(s.rows.lines.Line(row), err) }}
		if _, err := a.writer.Append(r.Context(), &push, &s.batch); err != nil {
			return err
		}
		a.writer.Refuse(protocol, "text", s.rows.lines.Texts, "a field that is text")
		if refused.Unread > 0 {
			a.writer.Refuse(protocol, "unreadable", refused.Unread, refused.Text(s.rows.lines.Total))
		}
		switch {
		case refused.Other != nil:
			return refused.Other
		case refused.Count() > 0:
			return writeError(w, http.StatusBadRequest, lead+refused.Text(s.rows.lines.Total))
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// protocol is the name of InfluxDB's protocol in counters.
const protocol = "influxdb"

// labelledRows are a body's fields. Each set of labels is a metric.
type labelledRows struct {
	*rows
	database string
}

// Name is of ingest.Rows.
func (r labelledRows) Name(row int) (*ingest.Name, error) {
	labels, err := r.lines.Labels(row, r.database)
	if err != nil {
		return nil, r.fault(err)
	}
	return &ingest.Name{Metric: labels.Get(model.LabelName), Labels: labels}, nil
}
