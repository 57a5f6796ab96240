package api

import (
	"maps"
	"strings"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

// A patchOperation is one step of a JSON Patch (RFC 6902), of the two that resource types take.
type patchOperation struct {
	add   bool     // else remove
	path  []string // the JSON pointer's parts
	value any      // to add
}

// maxPatchOperations lets all attributes of a type be replaced by as many others. Each operation may copy the document.
const maxPatchOperations = 2 * model.MaxAttributes

// parsePatch reads a JSON Patch that stays below /attributes.
func parsePatch(body web.Node) ([]patchOperation, error) {
	items, ok := body.Value.([]any)
	if !ok {
		return nil, body.Fault("expected a list")
	}
	if len(items) > maxPatchOperations {
		return nil, body.Fault("length of value must be at most %d", maxPatchOperations)
	}
	var operations []patchOperation
	for i, item := range items {
		fields, err := body.At(item, i).Fields("op*", "path*", "value")
		if err != nil {
			return nil, err
		}
		op := fields["op"]
		if op.Value != "add" && op.Value != "remove" {
			return nil, op.Fault("not a valid value")
		}
		path, _ := fields["path"].Value.(string)
		if path != "/attributes" && !strings.HasPrefix(path, "/attributes/") {
			return nil, fields["path"].Fault("not a valid value")
		}
		operation := patchOperation{add: op.Value == "add"}
		for part := range strings.SplitSeq(path[1:], "/") {
			operation.path = append(operation.path, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
		if operation.add {
			value, ok := fields["value"]
			if !ok {
				return nil, body.At(nil, i).At(nil, "value").Fault("required key not provided")
			}
			if _, ok := value.Value.(map[string]any); !ok {
				return nil, value.Fault("expected dict")
			}
			operation.value = value.Value
		}
		operations = append(operations, operation)
	}
	return operations, nil
}

// applyPatch returns document, which is not modified, with all operations done, one after the other.
func applyPatch(document map[string]any, operations []patchOperation) (map[string]any, error) {
	patched := any(document)
	for _, operation := range operations {
		var err error
		if patched, err = operation.apply(patched, operation.path); err != nil {
			return nil, err
		}
	}
	return patched.(map[string]any), nil // no path is empty: the top stays an object
}

// apply returns a copy of value, an object, in which it has added or removed the member that path leads to.
func (p *patchOperation) apply(value any, path []string) (any, error) {
	object, ok := value.(map[string]any)
	name := path[0]
	if !ok {
		return nil, web.BadRequest("%s: '%s' is within something that has no members", strings.Join(p.path, "/"), name)
	}
	object = maps.Clone(object)
	member, exists := object[name]
	switch {
	case len(path) > 1 && !exists:
		return nil, web.BadRequest("member '%s' not found in %s", name, strings.Join(p.path, "/"))
	case len(path) > 1:
		changed, err := p.apply(member, path[1:])
		if err != nil {
			return nil, err
		}
		object[name] = changed
	case p.add:
		object[name] = p.value
	case !exists:
		return nil, web.BadRequest("can't remove a non-existent object '%s'", name)
	default:
		delete(object, name)
	}
	return object, nil
}
