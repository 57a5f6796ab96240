package api

import (
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

// ruleHandlers serve archive policy rules.
type ruleHandlers struct{ *api }

func (a ruleHandlers) list(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	return web.WriteJSON(w, http.StatusOK, web.OrEmpty(a.Index.ArchivePolicyRules()))
}

func (a ruleHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	rule, err := a.Index.ArchivePolicyRule(web.Param(r, "name"))
	return web.Answer(w, rule, err)
}

func (a ruleHandlers) create(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "name*", "metric_pattern*", "archive_policy_name*")
	var rule model.ArchivePolicyRule
	web.Take(&err, fields, "name", &rule.Name, web.AnyText)
	web.Take(&err, fields, "metric_pattern", &rule.MetricPattern, web.AnyText)
	web.Take(&err, fields, "archive_policy_name", &rule.ArchivePolicyName, web.AnyText)
	if err != nil {
		return err
	}
	err = a.Index.CreateArchivePolicyRule(r.Context(), &rule)
	if errors.Is(err, model.ErrNotFound) { // the policy
		return web.RefusedCause(err)
	}
	if err != nil {
		return err
	}
	a.SetLocation(w, r, "archive_policy_rule", rule.Name)
	return web.WriteJSON(w, http.StatusCreated, &rule)
}

func (a ruleHandlers) rename(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := web.Param(r, "name")
	if _, err := a.Index.ArchivePolicyRule(name); err != nil {
		return err
	}
	fields, err := a.DecodeFields(w, r, "name*")
	to := ""
	web.Take(&err, fields, "name", &to, web.AnyText)
	if err != nil {
		return err
	}
	if err := a.Enforce(who, "update archive policy rule", web.NameTarget(name)); err != nil {
		return err
	}
	rule, err := a.Index.RenameArchivePolicyRule(r.Context(), name, to)
	if errors.Is(err, model.ErrExists) {
		return web.BadRequest("Archive policy rule %s does not support change: Archive policy rule %s already exists.",
			name, to)
	}
	return web.Answer(w, rule, err)
}

func (a ruleHandlers) delete(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := web.Param(r, "name")
	if _, err := a.Index.ArchivePolicyRule(name); err != nil {
		return err
	}
	if err := a.Enforce(who, "delete archive policy rule", web.NameTarget(name)); err != nil {
		return err
	}
	return web.NoContent(w, a.Index.DeleteArchivePolicyRule(r.Context(), name))
}
