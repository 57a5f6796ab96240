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
	rebuild, err := query.ParseBool(r.URL.Query(), "rebuild", false)
	if err != nil {
		return err
	}
	if rebuild {
		return a.change(w, r, name)
	}
	fields, err := a.DecodeFields(w, r, "definition", "back_window")
	if err != nil {
		return err
	}
	_, hasDefinition := fields["definition"]
	_, hasBackWindow := fields["back_window"]
	if !hasDefinition && !hasBackWindow {
		return web.Node{}.At(nil, "definition").Fault("required key not provided")
	}
	var definition []model.DefinitionInput
	var backWindow *int
	if hasDefinition {
		if definition, err = parseDefinition(fields["definition"]); err != nil {
			return err
		}
	}
	if hasBackWindow {
		n, err := parseBackWindow(fields["back_window"])
		if err != nil {
			return err
		}
		backWindow = &n
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
	name, err := fields["name"].Text(0)
	if err != nil {
		return nil, err
	}
	definition, err := parseDefinition(fields["definition"])
	if err != nil {
		return nil, err
	}
	backWindow := 0
	if field, ok := fields["back_window"]; ok {
		if backWindow, err = parseBackWindow(field); err != nil {
			return nil, err
		}
	}
	var methods []string
	if field, ok := fields["aggregation_methods"]; ok {
		if methods, err = parseMethods(field); err != nil {
			return nil, err
		}
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
		if !isMethodPattern(method) {
			return nil, field.At(value, i).Fault("not a valid value")
		}
		methods = append(methods, method)
	}
	return methods, nil
}

// isMethodPattern reports whether text is an aggregation method, perhaps one to add or to take away, or all of them.
func isMethodPattern(text string) bool {
	if text == "*" {
		return true
	}
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	_, err := carbonara.ParseMethod(text)
	return err == nil
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
		if err != nil {
			return nil, err
		}
		if field, ok := fields["granularity"]; ok {
			granularity, err := field.Timespan()
			if err != nil {
				return nil, err
			}
			definition[i].Granularity = &granularity
		}
		if field, ok := fields["timespan"]; ok {
			timespan, err := field.Timespan()
			if err != nil {
				return nil, err
			}
			definition[i].Timespan = &timespan
		}
		if field, ok := fields["points"]; ok {
			points, err := field.Integer(1)
			if err != nil {
				return nil, err
			}
			definition[i].Points = &points
		}
	}
	return definition, nil
}
