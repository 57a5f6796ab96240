package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// putMeasures serves PUT /v1/metric/{id}/measures: a correction of a range, or history where nothing is.
func (a metricHandlers) putMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	if r.URL.Query().Has("where") {
		return a.fillMeasures(w, r, who, metric)
	}
	return a.correctMeasures(w, r, who, metric)
}

// fillMeasures puts measures, or groups, of any age into the blocks in which the metric has nothing. The ledger has no
// entry, since no measure is taken out.
func (a metricHandlers) fillMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	if err := web.RequireJSON(r); err != nil {
		return err
	}
	values, now := r.URL.Query(), carbonara.FromTime(a.Now())
	if values.Get("where") != "empty" {
		return web.BadArgument("where", "Must be empty")
	}
	for _, name := range []string{"start", "stop"} {
		if values.Has(name) {
			return web.BadArgument(name, "Does not go with where")
		}
	}
	what := &model.Replacement{Empty: true, To: carbonara.MaxTimestamp}
	if err := query.ParseBool(values, "dry_run", &what.DryRun); err != nil {
		return err
	}
	body, err := a.readCorrection(w, r)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		if err = a.Enforce(who, "put archive", a.MetricTarget(metric)); err == nil {
			what.Groups, err = decodeGroups(body, metric, now)
		}
	} else {
		err = decodeCorrection(body, metric, now, what)
	}
	if err != nil {
		return err
	}
	project, rows := model.ProjectOf(who.User), int64(what.Rows())
	if err := a.Quotas.Charge(quota.Measures, project, rows); err != nil {
		return err
	}
	var done model.Replaced
	if rows > 0 {
		done, err = a.reader.Archives.Replace(r.Context(), []uuid.UUID{metric.ID}, what)
	}
	if err != nil || what.DryRun {
		a.Quotas.Return(quota.Measures, project, rows)
	} else {
		a.Quotas.Return(quota.Measures, project, rows-int64(done.Put))
	}
	answer := struct {
		Put     int      `json:"put"`
		Known   int      `json:"known"`
		Refused int      `json:"refused"`
		Blocks  []string `json:"refused_blocks"`
	}{done.Put, done.Known, done.Refused, []string{}}
	for _, start := range done.RefusedBlocks {
		answer.Blocks = append(answer.Blocks, web.ShowTime(start))
	}
	return web.Answer(w, answer, err)
}

// groupsJSON is groups of a granularity in place of measures.
type groupsJSON struct {
	Granularity float64                 `json:"granularity"`
	Timestamps  []json.Number           `json:"timestamps"`
	Columns     map[string][]groupValue `json:"columns"`
}

// groupValue is a number, "NaN" or an infinity in quotes, or null if it is not known.
type groupValue float64

// UnmarshalJSON implements json.Unmarshaler.
func (v *groupValue) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*v = groupValue(carbonara.Absent())
		return nil
	}
	f, err := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64)
	*v = groupValue(f)
	return err
}

// decodeGroups reads groups that a metric may have.
func decodeGroups(body []byte, metric *model.Metric, now carbonara.Timestamp) (all []carbonara.Groups, err error) {
	var given struct {
		Groups []groupsJSON `json:"groups"`
	}
	if err := json.Unmarshal(body, &given); err != nil {
		return nil, web.BadRequest("Groups do not decode: %v", err)
	}
	plan := metric.ArchivePolicy.Plan()
	ahead := model.AheadFrom(plan, int64(now))
	for _, one := range given.Groups {
		i := slices.IndexFunc(plan.Granularities, func(g time.Duration) bool { return g.Seconds() == one.Granularity })
		if i < 0 || slices.ContainsFunc(all, func(g carbonara.Groups) bool {
			return g.Granularity == plan.Granularities[i]
		}) {
			return nil, web.BadRequest("Granularity %v is not of archive policy %s, or there twice", one.Granularity,
				metric.ArchivePolicy.Name)
		}
		var groups carbonara.Groups
		groups.Reset(plan.Granularities[i], plan.Columns)
		if err := one.decode(&groups, now, ahead); err != nil {
			return nil, err
		}
		all = append(all, groups)
	}
	return all, nil
}

// decode reads groups, which ascend and begin before a time.
func (one *groupsJSON) decode(dst *carbonara.Groups, now, ahead carbonara.Timestamp) error {
	last := carbonara.Timestamp(-1)
	for _, text := range one.Timestamps {
		start, err := model.ParseTimestamp(text.String(), now)
		if err != nil || start <= last || start != start.Floor(dst.Granularity) || start >= ahead {
			return web.BadRequest("Timestamp %s does not start a group of %v after the last one, or is too far ahead", text,
				dst.Granularity)
		}
		dst.Starts, last = append(dst.Starts, start), start
	}
	known := 0
	for i, column := range dst.Columns {
		values, ok := one.Columns[column.String()]
		switch {
		case !ok || column.IsSketch():
			values = slices.Repeat([]groupValue{groupValue(carbonara.Absent())}, dst.Len())
		case len(values) != dst.Len():
			return web.BadRequest("Column %v has %s, not %d", column, counted.Of(len(values), "value"), dst.Len())
		default:
			known++
		}
		for _, v := range values {
			dst.Values[i] = append(dst.Values[i], float64(v))
		}
	}
	if known < len(one.Columns) {
		return web.BadRequest("There is a column that the archive policy does not have")
	}
	return nil
}
