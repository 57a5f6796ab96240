package main

import (
	"bytes"
	"fmt"
	"os"
)

func main() {
	if err := run("../../docs/explain/benchmarks.md", "../../docs/benchmarks/*.csv"); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run draws the tables of a page anew.
func run(page, pattern string) error {
	all, err := readFigures(pattern)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	drawn, err := drawPage(string(text), all)
	if err != nil || bytes.Equal(text, []byte(drawn)) {
		return err
	}
	return os.WriteFile(page, []byte(drawn), 0o644)
}
