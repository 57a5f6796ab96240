package api

import (
	"maps"
	"slices"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

// parseLabels reads the labels of a new metric, its name among them. A sender may push to the same series later.
func parseLabels(in web.Node) (model.Labels, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return "", in.Fault("expected a dictionary")
	}
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value, err := in.At(object[name], name).Text(0)
		if err != nil {
			return "", err
		}
		if name == "" || value == "" {
			return "", in.At(value, name).Fault("neither the name nor the value of a label may be empty")
		}
		text = model.AppendLabel(text, name, value)
	}
	labels := model.Labels(text)
	if labels.Get(model.LabelName) == "" {
		return "", in.At(nil, model.LabelName).Fault("required key not provided")
	}
	if !labels.Valid() {
		return "", in.Fault("not valid UTF-8")
	}
	return labels, nil
}
