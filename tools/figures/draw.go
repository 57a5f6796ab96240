package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var marks = regexp.MustCompile(`(?s)<!-- figures: ([\w-]+) -->\n.*?<!-- /figures -->`)

// drawPage replaces the text between marks by the tables of their topics.
func drawPage(page string, all []figure) (drawn string, err error) {
	drawn = marks.ReplaceAllStringFunc(page, func(section string) string {
		topic := marks.FindStringSubmatch(section)[1]
		table := drawMissed(all)
		if topic != "missed" {
			table = drawTopic(only(all, func(f figure) bool { return f.topic == topic }))
		}
		if table == "" {
			err = fmt.Errorf("there are no figures of %q", topic)
		}
		return "<!-- figures: " + topic + " -->\n\n" + table + "\n<!-- /figures -->"
	})
	return drawn, err
}

func only(all []figure, want func(figure) bool) []figure {
	return slices.DeleteFunc(slices.Clone(all), func(f figure) bool { return !want(f) })
}

// distinct returns what of gives for each figure, in order, each once.
func distinct(all []figure, of func(figure) string) (names []string) {
	for _, f := range all {
		if name := of(f); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func row(f figure) string    { return f.row }
func server(f figure) string { return f.server }

// named returns the figure's metric and unit.
func named(f figure) string { return strings.Trim(f.metric+", "+f.unit, ", ") }

// metrics names the metrics of a row, with their units. A row whose first metric has no name says them itself.
func metrics(row []figure) string {
	units := distinct(row, func(f figure) string { return f.unit })
	names := strings.Join(distinct(row, func(f figure) string { return f.metric }), "; ")
	switch {
	case row[0].metric == "":
		return row[0].unit
	case len(units) > 1:
		return strings.Join(distinct(row, named), "; ")
	}
	return names + ", " + units[0]
}

// drawTopic draws a line for each row and a column for each server, the aims last. A row's metrics stand in the header
// if most rows share them. The first run is named below the table, and the other runs with a sign for their rows.
func drawTopic(all []figure) string {
	if len(all) == 0 {
		return ""
	}
	servers := distinct(only(all, func(f figure) bool { return f.server != "aim" }), server)
	if slices.Contains(distinct(all, server), "aim") {
		servers = append(servers, "aim")
	}
	names, runs := distinct(all, row), distinct(all, figure.run)
	of := make(map[string][]figure)
	sharing := make(map[string]int)
	for _, name := range names {
		of[name] = only(all, func(f figure) bool { return f.row == name })
		sharing[metrics(of[name])]++
	}
	header := metrics(of[names[0]])
	if 2*sharing[header] <= len(names) {
		header = ""
	}
	signs := []string{"", " ¹", " ²", " ³", " ⁴", " ⁵"}
	table := "| " + header + " | " + strings.Join(servers, " | ") + " |\n"
	table += strings.Repeat("| --- ", len(servers)+1) + "|\n"
	for _, name := range names {
		label := name
		if own := metrics(of[name]); own != header {
			label += ", " + own
		}
		table += "| " + label + signs[slices.Index(runs, of[name][0].run())]
		for _, s := range servers {
			table += " | " + cell(of[name], s)
		}
		table += " |\n"
	}
	for i, run := range runs {
		runs[i] = strings.TrimSpace(signs[i] + " " + run)
	}
	return table + "\n" + strings.Join(runs, "; ") + ".\n"
}

// cell joins a server's values of a row. The best of several servers is bold.
func cell(all []figure, of string) string {
	var values []string
	for _, metric := range distinct(all, named) {
		value := "–"
		rivals := only(all, func(f figure) bool { return named(f) == metric && f.server != "aim" })
		for _, f := range only(all, func(f figure) bool { return named(f) == metric && f.server == of }) {
			value = f.text()
			if of != "aim" && len(rivals) > 1 && !slices.ContainsFunc(rivals, f.worseThan) {
				value = "**" + value + "**"
			}
		}
		values = append(values, value)
	}
	if strings.Trim(strings.Join(values, ""), "–") == "" {
		return ""
	}
	return strings.Join(values, "; ")
}

// drawMissed draws the rows in which Gnocco misses an aim.
func drawMissed(all []figure) string {
	table := "| | Gnocco | aim |\n| --- | --- | --- |\n"
	for _, name := range distinct(all, func(f figure) string { return f.topic + ": " + f.row }) {
		these := only(all, func(f figure) bool {
			return f.topic+": "+f.row == name && (f.server == "Gnocco" || f.server == "aim")
		})
		for _, f := range these {
			if slices.ContainsFunc(these, func(a figure) bool {
				return a.server == "aim" && f.server == "Gnocco" && named(a) == named(f) && f.worseThan(a)
			}) {
				table += "| " + name + ", " + metrics(these)
				table += " | " + cell(these, "Gnocco") + " | " + cell(these, "aim") + " |\n"
				break
			}
		}
	}
	return table
}
