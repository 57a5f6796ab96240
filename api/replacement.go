package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// replacement is a request to take measures out, and perhaps to put others in their place.
type replacement struct {
	model.Replacement
	metrics  []uuid.UUID
	selector string // as the ledger shows it
	reason   string
}

// replacedJSON is what was done, as the API shows it.
type replacedJSON struct {
	ID       *uuid.UUID      `json:"id"` // of the entry in the ledger; null for a dry run
	Metrics  int             `json:"metrics"`
	Before   int             `json:"groups_before"`
	After    int             `json:"groups_after"`
	Measures int             `json:"measures"`
	Bytes    int64           `json:"bytes"`
	Lost     []lostGroupJSON `json:"lost"`
	Losts    int             `json:"lost_groups"`
	Failed   int             `json:"failed"`
	Fault    *string         `json:"error"`
	Backups  string          `json:"backups"`
}

// lostGroupJSON is a group that went with measures outside the range.
type lostGroupJSON struct {
	Metric      uuid.UUID `json:"metric_id"`
	Granularity float64   `json:"granularity"`
	Start       string    `json:"timestamp"`
}

// heldByBackups says where measures still are that were taken out.
const heldByBackups = "Backups made before hold the measures until gnocco backup --keep removes them"

// replace does what a request asks for, and writes it into the ledger: before, so that nothing is changed without an
// entry, and after.
func (a *api) replace(ctx context.Context, who *auth.Identity, r *replacement) (*replacedJSON, error) {
	slices.SortFunc(r.metrics, model.CompareIDs)
	r.metrics = slices.Compact(r.metrics)
	shown := &replacedJSON{Lost: []lostGroupJSON{}, Backups: heldByBackups}
	entry := &model.LedgerEntry{Who: who.User, Selector: shortened(r.selector, model.MostLedgerSelector),
		From: r.From, To: r.To, Reason: r.reason, Correction: len(r.Timestamps) > 0}
	if len(r.metrics) <= model.MostLedgerMetrics {
		entry.Metrics = r.metrics
	}
	change := func() (model.Replaced, error) { return a.reader.Archives.Replace(ctx, r.metrics, &r.Replacement) }
	var done model.Replaced
	var err error
	if r.DryRun {
		done, err = change()
	} else {
		err = ingest.WriteDown(ctx, a.Index, entry, change)
		done, shown.ID = entry.Done, &entry.ID
	}
	for _, g := range done.Lost {
		shown.Lost = append(shown.Lost, lostGroupJSON{g.Metric, g.Granularity.Seconds(), web.ShowTime(g.Start)})
	}
	shown.Metrics, shown.Before, shown.After, shown.Measures = done.Metrics, done.Before, done.After, done.Measures
	shown.Bytes, shown.Losts, shown.Failed = done.Bytes, done.LostGroups, done.Failed
	shown.Fault = web.OrNull(done.Fault)
	return shown, err
}

// shortened returns the beginning of a text that is longer than most bytes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}

// deleteMeasures serves POST /v1/measures/delete: it deletes the measures of a range from metrics that are listed or
// that resources have.
func (a metricHandlers) deleteMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	preview, fields, err := a.decodeChange(w, r, "metrics", "resource_type", "search", "names", "start", "stop",
		"reason")
	if err != nil {
		return err
	}
	what := &replacement{Replacement: model.Replacement{DryRun: preview, To: carbonara.MaxTimestamp}}
	if err := a.parseRange(fields, what); err != nil {
		return err
	}
	if field, ok := fields["metrics"]; ok {
		for _, name := range []string{"resource_type", "search", "names"} {
			if other, ok := fields[name]; ok {
				return other.Fault("does not go with metrics")
			}
		}
		err = a.listedMetrics(who, field, what)
	} else {
		err = a.searchedMetrics(r.Context(), who, fields, what)
	}
	if err != nil {
		return err
	}
	shown, err := a.replace(r.Context(), who, what)
	return web.Answer(w, shown, err)
}

// deleteSeries deletes the measures of series that Prometheus' API selects, from start to end, both included.
func (a *api) deleteSeries(ctx context.Context, who *auth.Identity, selector string, metrics []uuid.UUID,
	start, end time.Time) (warning string, err error) {
	what := &replacement{metrics: metrics, selector: selector}
	what.From, what.To = max(0, carbonara.FromTime(start)), carbonara.FromTime(end).Add(1)
	shown, err := a.replace(ctx, who, what)
	if err == nil && shown.Failed > 0 {
		err = fmt.Errorf("%s unchanged: %s", counted.Of(shown.Failed, "archive"), *shown.Fault)
	}
	if err == nil && shown.Losts > 0 {
		first := shown.Lost[0]
		warning = fmt.Sprintf("%s lost measures outside the range, which nothing tells apart; the first is of metric %s, "+
			"%g s from %s; the ledger's entry is %s", counted.Of(shown.Losts, "group"), first.Metric, first.Granularity,
			first.Start, shown.ID)
	}
	return warning, err
}

// parseRange reads the range and the reason of a body.
func (a metricHandlers) parseRange(fields map[string]web.Node, what *replacement) error {
	_, begins := fields["start"]
	_, ends := fields["stop"]
	if !begins && !ends {
		return web.BadRequest("start or stop is needed")
	}
	timestamp := web.TimestampAt(carbonara.FromTime(a.Now()))
	var err error
	web.Take(&err, fields, "start", &what.From, timestamp)
	web.Take(&err, fields, "stop", &what.To, timestamp)
	if err == nil && what.From >= what.To {
		return web.BadRequest("stop must be later than start")
	}
	web.Take(&err, fields, "reason", &what.reason, web.TextUpTo(model.MostLedgerReason))
	return err
}

// listedMetrics finds the metrics that a body lists. All have to exist, and the user has to have the right to each.
func (a metricHandlers) listedMetrics(who *auth.Identity, field web.Node, what *replacement) error {
	var err error
	if what.metrics, err = web.ListOf(web.Node.UUID)(field); err != nil {
		return err
	}
	var texts []string
	for _, id := range what.metrics {
		texts = append(texts, id.String())
	}
	what.selector = "metrics " + strings.Join(texts, ",")
	found, err := a.MetricsByID(who, what.metrics)
	if err != nil {
		return err
	}
	return a.EnforceMetrics(who, "delete metric", found)
}

// searchedMetrics finds the metrics, by these names or all, of the resources that a body searches. Those that the user
// has no right to are left out, as where resources are deleted.
func (a metricHandlers) searchedMetrics(ctx context.Context, who *auth.Identity, fields map[string]web.Node,
	what *replacement) error {
	kindName := "generic"
	var err error
	if web.Take(&err, fields, "resource_type", &kindName, web.AnyText); err != nil {
		return err
	}
	kind, err := a.Index.ResourceType(kindName)
	if err != nil {
		return web.RefusedCause(err)
	}
	search, ok := fields["search"]
	if !ok {
		return web.BadRequest("metrics or search is needed")
	}
	expr, err := search.SearchFilter()
	if err != nil {
		return err
	}
	var names []string
	if web.Take(&err, fields, "names", &names, web.ListOf(web.AnyText)); err != nil {
		return err
	}
	text, err := json.Marshal(search.Value)
	if err != nil {
		return err
	}
	what.selector = "search " + kindName + " " + string(text)
	if names != nil {
		what.selector += " names " + strings.Join(names, ",")
	}
	resources, _, err := a.FindSorted(ctx, who, kind, expr, false, nil, names)
	if err != nil {
		return err
	}
	may := a.PermittedMetrics(who, "delete metric")
	for _, resource := range resources {
		for name, id := range resource.Metrics {
			if names != nil && !slices.Contains(names, name) {
				continue
			}
			if metric := a.Index.Lookup(id); metric != nil && may(metric) {
				what.metrics = append(what.metrics, id)
			}
		}
	}
	return nil
}

// correctMeasures replaces the measures of a range by those of the body.
func (a metricHandlers) correctMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	if err := a.Enforce(who, "delete metric", a.MetricTarget(metric)); err != nil {
		return err
	}
	if err := web.RequireJSON(r); err != nil {
		return err
	}
	values, now := r.URL.Query(), carbonara.FromTime(a.Now())
	what := &replacement{metrics: []uuid.UUID{metric.ID}, selector: "metric " + metric.ID.String(),
		reason: values.Get("reason")}
	for _, name := range []string{"start", "stop"} {
		if !values.Has(name) {
			return web.BadArgument(name, "Must be given")
		}
	}
	if len(what.reason) > model.MostLedgerReason {
		return web.BadArgument("reason", fmt.Sprintf("Must have %d bytes at most", model.MostLedgerReason))
	}
	if err := cmp.Or(query.ParseInstant(values, "start", now, &what.From),
		query.ParseInstant(values, "stop", now, &what.To), query.ParseBool(values, "dry_run", &what.DryRun)); err != nil {
		return err
	}
	if what.From >= what.To {
		return web.BadArgument("stop", "Must be later than start")
	}
	body, err := a.readCorrection(w, r)
	if err == nil {
		err = decodeCorrection(body, metric, now, &what.Replacement)
	}
	if err != nil {
		return err
	}
	project, charged := model.ProjectOf(who.User), int64(len(what.Timestamps))
	if what.DryRun {
		charged = 0
	}
	if err := a.Quotas.Charge(quota.Measures, project, charged); err != nil {
		return err
	}
	shown, err := a.replace(r.Context(), who, what)
	if err != nil {
		a.Quotas.Return(quota.Measures, project, charged)
	}
	return web.Answer(w, shown, err)
}

// mostCorrection bounds the body of a correction: its measures go to the sack in one request.
const mostCorrection = 16 << 20

func (a metricHandlers) readCorrection(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return a.ReadBody(w, r, min(a.MaxBodyBytes, mostCorrection), budget.Measures, web.MeasuresFactor, nil)
}

// decodeCorrection reads the measures of a correction, which lie in its range and not ahead.
func decodeCorrection(body []byte, metric *model.Metric, now carbonara.Timestamp, what *model.Replacement) error {
	var decoder measures.Decoder
	var batch model.Measures
	if err := decoder.DecodeMetric(body, metric.ID, now, &batch); err != nil {
		return err
	}
	last := make(map[carbonara.Timestamp]float64, batch.Len()) // of equal timestamps the last one counts
	ahead := model.AheadFrom(metric.ArchivePolicy.Plan(), int64(now))
	for i, t := range batch.Timestamps {
		switch {
		case t < what.From || t >= what.To:
			return web.BadRequest("Measure %d at %s is outside the range from start to stop", i, web.ShowTime(t))
		case t >= ahead:
			return web.BadRequest("Measure %d at %s is too far in the future", i, web.ShowTime(t))
		}
		if _, ok := last[t]; !ok {
			what.Timestamps = append(what.Timestamps, t)
		}
		last[t] = batch.Values[i]
	}
	slices.Sort(what.Timestamps)
	for _, t := range what.Timestamps {
		what.Values = append(what.Values, last[t])
	}
	return nil
}
