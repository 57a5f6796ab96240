// Package table writes the answers of commands, as text, JSON, YAML or CSV.
package table
