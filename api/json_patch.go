package api

import (
	"maps"
	"strings"

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
func parsePatch(body jsonValue) ([]patchOperation, error) {
	items, ok := body.value.([]any)
	if !ok {
		return nil, body.fault("expected a list")
	}
	if len(items) > maxPatchOperations {
		return nil, body.fault("length of value must be at most %d", maxPatchOperations)
	}
	var operations []patchOperation
	for i, item := range items {
		fields, err := body.at(item, i).fields("op*", "path*", "value")
		if err != nil {
			return nil, err
		}
		op := fields["op"]
		if op.value != "add" && op.value != "remove" {
			return nil, op.fault("not a valid value")
		}
		path, _ := fields["path"].value.(string)
		if path != "/attributes" && !strings.HasPrefix(path, "/attributes/") {
			return nil, fields["path"].fault("not a valid value")
		}
		operation := patchOperation{add: op.value == "add"}
		for part := range strings.SplitSeq(path[1:], "/") {
			operation.path = append(operation.path, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
		if operation.add {
			value, ok := fields["value"]
			if !ok {
				return nil, body.at(nil, i).at(nil, "value").fault("required key not provided")
			}
			if _, ok := value.value.(map[string]any); !ok {
				return nil, value.fault("expected dict")
			}
			operation.value = value.value
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

// apply returns a copy of value, an object, with what path leads to added or removed.
func (p *patchOperation) apply(value any, path []string) (any, error) {
	object, ok := value.(map[string]any)
	name := path[0]
	if !ok {
		return nil, badRequest("%s: '%s' is within something that has no members", strings.Join(p.path, "/"), name)
	}
	object = maps.Clone(object)
	member, exists := object[name]
	switch {
	case len(path) > 1 && !exists:
		return nil, badRequest("member '%s' not found in %s", name, strings.Join(p.path, "/"))
	case len(path) > 1:
		changed, err := p.apply(member, path[1:])
		if err != nil {
			return nil, err
		}
		object[name] = changed
	case p.add:
		object[name] = p.value
	case !exists:
		return nil, badRequest("can't remove a non-existent object '%s'", name)
	default:
		delete(object, name)
	}
	return object, nil
}
