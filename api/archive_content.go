package api

import (
	"encoding/base64"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

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
	content, err := a.reader.Archives.Content(r.Context(), &model.ContentRequest{Metric: metric.ID, Put: part})
	return web.Answer(w, struct {
		Written int `json:"written"`
	}{content.Written}, err)
}
