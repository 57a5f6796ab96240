package api

import (
	"encoding/base64"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// getArchive serves GET /v1/metric/{id}/archive: the size of a metric's archive, in bytes.
func (a *api) getArchive(w http.ResponseWriter, r *http.Request, _ *auth.Identity, metric *model.Metric) error {
	var refresh bool
	if err := query.ParseBool(r.URL.Query(), "refresh", &refresh); err != nil {
		return err
	}
	if refresh {
		if err := a.reader.Refresh(r.Context(), metric); err != nil {
			return err
		}
	}
	staleness := web.StalenessOf(r.Context())
	sizes, err := a.reader.Archives.Sizes(r.Context(), []uuid.UUID{metric.ID}, staleness)
	if err != nil {
		return err
	}
	size := &sizes[0]
	type archive struct {
		Granularity text.Seconds `json:"granularity"`
		Bytes       int64        `json:"bytes"`
	}
	type raw struct {
		Bytes    int64   `json:"bytes"`
		KeptFrom *string `json:"kept_from"`
		Newest   *string `json:"newest"`
	}
	answer := struct {
		Bytes    int64     `json:"bytes"`
		Raw      raw       `json:"raw"`
		Archives []archive `json:"archives"`
		Dropped  uint64    `json:"dropped_measures"`
		Late     uint64    `json:"late_measures"`
	}{Bytes: size.Total(), Raw: raw{Bytes: size.Raw}, Dropped: size.Dropped, Late: size.Late}
	for _, item := range metric.ArchivePolicy.Definition {
		answer.Archives = append(answer.Archives,
			archive{text.Seconds(item.Granularity.Seconds()), size.Splits[item.Granularity]})
	}
	span, err := a.reader.RawSpan(r.Context(), metric, staleness)
	if err != nil {
		return err
	}
	if span.Any {
		keptFrom, newest := web.ShowTime(span.KeptFrom), web.ShowTime(span.Newest)
		answer.Raw.KeptFrom, answer.Raw.Newest = &keptFrom, &newest
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// getContent serves GET /v1/metric/{id}/archive/content: a part of the content of a metric's archive.
func (a metricHandlers) getContent(w http.ResponseWriter, r *http.Request, _ *auth.Identity,
	metric *model.Metric) error {
	request := &model.ContentRequest{Metric: metric.ID}
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if request.Token, err = base64.RawURLEncoding.DecodeString(text); err != nil {
			return web.BadArgument("after", "Must be the next of an answer")
		}
	} else if err := a.reader.Refresh(r.Context(), metric); err != nil {
		return err
	}
	content, err := a.reader.Archives.Content(r.Context(), request)
	if err == nil && content.Changed {
		err = &web.Error{Status: http.StatusConflict, Detail: "Measures came after the part before: begin again"}
	}
	next := base64.RawURLEncoding.EncodeToString(content.Next)
	return web.Answer(w, struct {
		Content []byte  `json:"content"`
		Next    *string `json:"next"`
	}{content.Part, web.OrNull(next)}, err)
}

// putContent serves PUT /v1/metric/{id}/archive/content: it adds such a part, in their order.
func (a metricHandlers) putContent(w http.ResponseWriter, r *http.Request, _ *auth.Identity,
	metric *model.Metric) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	fields, err := web.Node{Value: body}.Fields("content")
	if err != nil {
		return err
	}
	text, err := fields["content"].Text(0)
	if err != nil {
		return err
	}
	part, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(part) == 0 {
		return fields["content"].Fault("not base64")
	}
	if err := a.reader.Refresh(r.Context(), metric); err != nil { // measures of its own that are not in it yet
		return err
	}
	content, err := a.reader.Archives.Content(r.Context(), &model.ContentRequest{Metric: metric.ID, Put: part})
	return web.Answer(w, struct {
		Written int `json:"written"`
	}{content.Written}, err)
}
