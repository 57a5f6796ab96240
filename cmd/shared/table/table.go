package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Table is the answer of a command.
type Table struct {
	Columns []string
	Rows    [][]any
}

// Add adds a row.
func (t *Table) Add(row ...any) { t.Rows = append(t.Rows, row) }

// DefineOutput defines the flag that says in which form a table is written.
func DefineOutput(flags *pflag.FlagSet, output *string) {
	flags.StringVarP(output, "output", "o", "table", "output format: table, json, yaml or csv")
}

// Write writes the table in a form.
func (t *Table) Write(out io.Writer, form string) error {
	switch form {
	case "table":
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.ToUpper(strings.Join(t.Columns, "\t")))
		for _, row := range t.Rows {
			cells := texts(row, rounded)
			for i, cell := range cells {
				if strings.ContainsFunc(cell, unicode.IsControl) { // also what a terminal would obey
					cells[i] = strconv.Quote(cell)
				}
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
		return w.Flush()
	case "csv":
		w := csv.NewWriter(out)
		_ = w.Write(t.Columns) // Error has it
		for _, row := range t.Rows {
			_ = w.Write(texts(row, exactly))
		}
		w.Flush()
		return w.Error()
	case "yaml":
		list := yaml.Node{Kind: yaml.SequenceNode}
		for _, row := range t.Rows {
			object := &yaml.Node{Kind: yaml.MappingNode}
			for j, cell := range row {
				var value yaml.Node
				if err := value.Encode(cell); err != nil {
					return err
				}
				object.Content = append(object.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: t.Columns[j]}, &value)
			}
			list.Content = append(list.Content, object)
		}
		return yaml.NewEncoder(out).Encode(&list)
	case "json":
		objects := make([]map[string]any, len(t.Rows))
		for i, row := range t.Rows {
			objects[i] = make(map[string]any, len(row))
			for j, cell := range row {
				if f, ok := cell.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
					cell = exactly(f) // JSON has no number for it
				}
				objects[i][t.Columns[j]] = cell
			}
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(objects)
	}
	return fmt.Errorf("--output: %q is none of table, json, yaml and csv", form)
}

func texts(row []any, number func(float64) string) []string {
	all := make([]string, len(row))
	for i, cell := range row {
		if value, ok := cell.(float64); ok {
			all[i] = number(value)
		} else if cell != nil {
			all[i] = fmt.Sprint(cell)
		}
	}
	return all
}

// exactly returns a number with as many digits as it needs to be read back.
func exactly(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// rounded returns a number as people read it: of a fraction three significant digits, of a whole number all.
func rounded(value float64) string {
	switch size := math.Abs(value); {
	case value == math.Trunc(value) && size < 1e15:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case size >= 1000 && size < 1e15:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case size >= 1e-4 && size < 1000: // FormatFloat drops no zeros of 'f'
		value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}
