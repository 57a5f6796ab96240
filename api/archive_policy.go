package api

import (
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// policyHandlers serve archive policies.
type policyHandlers struct{ *api }

func (a policyHandlers) list(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	return web.WriteJSON(w, http.StatusOK, web.OrEmpty(a.Index.ArchivePolicies()))
}

func (a policyHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	policy, err := a.Index.ArchivePolicy(web.Param(r, "name"))
	return web.Answer(w, policy, err)
}

func (a policyHandlers) create(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	policy, err := parseArchivePolicy(web.Node{Value: body})
	if err != nil {
		return err
	}
	if err := a.Index.CreateArchivePolicy(r.Context(), policy); err != nil {
		return err
	}
	a.SetLocation(w, r, "archive_policy", policy.Name)
	return web.WriteJSON(w, http.StatusCreated, policy)
}

func (a policyHandlers) update(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := web.Param(r, "name")
	if _, err := a.Index.ArchivePolicy(name); err != nil {
		return err
	}
	if err := a.Enforce(who, "update archive policy", web.NameTarget(name)); err != nil {
		return err
	}
	var rebuild bool
	if err := query.ParseBool(r.URL.Query(), "rebuild", &rebuild); err != nil {
		return err
	}
	if rebuild {
		return a.change(w, r, name)
	}
	fields, err := a.DecodeFields(w, r, "definition", "back_window")
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		return web.Node{}.At(nil, "definition").Fault("required key not provided")
	}
	var definition []model.DefinitionInput
	var backWindow *int
	web.Take(&err, fields, "definition", &definition, parseDefinition)
	web.Take(&err, fields, "back_window", &backWindow, web.Pointer(parseBackWindow))
	if err != nil {
		return err
	}
	policy, err := a.Index.UpdateArchivePolicy(r.Context(), name,
		func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
			return old.Update(backWindow, definition)
		})
	return web.Answer(w, policy, err)
}

func (a policyHandlers) delete(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	return web.NoContent(w, a.Index.DeleteArchivePolicy(r.Context(), web.Param(r, "name")))
}

func parseArchivePolicy(body web.Node) (*model.ArchivePolicy, error) {
	fields, err := body.Fields("name*", "definition*", "back_window", "aggregation_methods")
	if err != nil {
		return nil, err
	}
	var name string
	var definition []model.DefinitionInput
	var backWindow int
	var methods []string
	web.Take(&err, fields, "name", &name, web.AnyText)
	web.Take(&err, fields, "definition", &definition, parseDefinition)
	web.Take(&err, fields, "back_window", &backWindow, parseBackWindow)
	web.Take(&err, fields, "aggregation_methods", &methods, parseMethods)
	if err != nil {
		return nil, err
	}
	return model.NewArchivePolicy(name, backWindow, definition, methods)
}

// parseMethods reads a list of aggregation methods; an empty one is not nil.
func parseMethods(field web.Node) ([]string, error) {
	names, ok := field.Value.([]any)
	if !ok {
		return nil, field.Fault("expected a list")
	}
	methods := []string{}
	for i, value := range names {
		method, _ := value.(string)
		if err := checkMethodPattern(method); err != nil && strings.Contains(method, "(") {
			return nil, field.At(value, i).Fault("%v", err)
		} else if err != nil {
			return nil, field.At(value, i).Fault("not a valid value")
		}
		methods = append(methods, method)
	}
	return methods, nil
}

// checkMethodPattern accepts an aggregation method, perhaps one to add or to take away, or all of them.
func checkMethodPattern(text string) error {
	if text == "*" {
		return nil
	}
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	_, err := carbonara.ParseMethod(text)
	return err
}

// maxBackWindow keeps the number of blocks inside an int32; with blocks of a second that is 68 years.
const maxBackWindow = 1<<31 - 1

func parseBackWindow(in web.Node) (int, error) {
	n, err := in.Integer(0)
	if err != nil {
		return 0, err
	}
	if n > maxBackWindow {
		return 0, in.Fault("value must be at most %d", maxBackWindow)
	}
	return int(n), nil
}

// maxGranularities of an archive policy. Each is a series to write and to read for every metric; real policies have
// fewer than ten.
const maxGranularities = 64

func parseDefinition(in web.Node) ([]model.DefinitionInput, error) {
	items, err := in.List()
	if err != nil {
		return nil, err
	}
	if len(items) > maxGranularities {
		return nil, in.Fault("length of value must be at most %d", maxGranularities)
	}
	definition := make([]model.DefinitionInput, len(items))
	for i, item := range items {
		fields, err := item.Fields("granularity", "points", "timespan")
		d := &definition[i]
		web.Take(&err, fields, "granularity", &d.Granularity, web.Pointer(web.Node.Timespan))
		web.Take(&err, fields, "timespan", &d.Timespan, web.Pointer(web.Node.Timespan))
		web.Take(&err, fields, "points", &d.Points, web.Pointer(web.AtLeast(1)))
		if err != nil {
			return nil, err
		}
	}
	return definition, nil
}

// getCapabilities lists every aggregation method.
func getCapabilities(w http.ResponseWriter, _ *http.Request) error {
	methods := carbonara.Methods()
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.String()
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Methods []string `json:"aggregation_methods"`
	}{names})
}
