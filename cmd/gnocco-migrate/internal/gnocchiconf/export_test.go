package gnocchiconf

import (
	"fmt"
	"strings"
)

// Table returns the table as Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| gnocchi.conf | setting | |\n| --- | --- | --- |\n")
	for _, o := range options {
		section, setting, note := o.section, "ignored", o.note
		if section == "default" {
			section = "DEFAULT"
		}
		if o.setting != "" {
			setting = "`" + o.setting + "`"
		}
		if o.preset != "" {
			note = strings.TrimPrefix(note+"; default `"+o.preset+"`", "; ")
		}
		fmt.Fprintf(&b, "| `[%s] %s` | %s | %s |\n", section, o.name, setting, note)
	}
	return b.String()
}
