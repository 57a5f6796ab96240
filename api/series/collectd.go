package series

import (
	"strings"

	"github.com/gnocco-db/gnocco/model"
)

// NameCollectd names a series of collectd, whose labels plugin and type are set: "collectd_PLUGIN_TYPE", with the
// suffix _total if it grows. Of a type with several values, the label value is the name of this one; else it is "".
func (l *Labels) NameCollectd(value string, grows bool) {
	plugin, kind := l.Get("plugin"), l.Get("type")
	name := "collectd_" + plugin
	if kind != plugin {
		name += "_" + kind
	}
	if grows {
		name += "_total"
	}
	l.Set(model.LabelName, strings.ReplaceAll(name, "-", "_"))
	l.Set("value", value)
}
