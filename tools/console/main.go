package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// packages says where the modules lie that the sources import by name.
var packages = map[string]string{
	"preact":             "preact/preact.mjs",
	"preact/hooks":       "preact/hooks.mjs",
	"preact/jsx-runtime": "preact/jsxRuntime.mjs",
	"uplot":              "uplot/uPlot.esm.js",
	"uplot/style":        "uplot/uPlot.min.css",

	"@codemirror/autocomplete":    "codemirror-autocomplete/index.js",
	"@codemirror/commands":        "codemirror-commands/index.js",
	"@codemirror/language":        "codemirror-language/index.js",
	"@codemirror/lint":            "codemirror-lint/index.js",
	"@codemirror/state":           "codemirror-state/index.js",
	"@codemirror/streamparser":    "codemirror-streamparser/index.js",
	"@codemirror/view":            "codemirror-view/index.js",
	"@lezer/common":               "lezer-common/index.js",
	"@lezer/highlight":            "lezer-highlight/index.js",
	"@lezer/lr":                   "lezer-lr/index.js",
	"@marijn/find-cluster-break":  "find-cluster-break/index.js",
	"@prometheus-io/lezer-promql": "lezer-promql/index.es.js",
	"@prometheus-io/codemirror-promql/dist/esm/complete/hybrid": "codemirror-promql/complete/hybrid.js",
	"@prometheus-io/codemirror-promql/dist/esm/lint/hybrid":     "codemirror-promql/lint/hybrid.js",
	"crelt":       "crelt/index.js",
	"style-mod":   "style-mod/style-mod.js",
	"w3c-keyname": "w3c-keyname/index.js",
}

func main() {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func build() error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	alias := make(map[string]string, len(packages))
	for name, path := range packages {
		alias[name] = filepath.Join(folder, "packages", filepath.FromSlash(path))
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "console"}},
		Bundle:              true,
		Splitting:           true, // what main.tsx imports by import() is loaded when it is used
		Outdir:              "dist",
		Alias:               alias,
		Format:              api.FormatESModule,
		Target:              api.ES2022,
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		MinifySyntax:        true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		LineLimit:           200, // so that a change of the sources is a small change here
		LegalComments:       api.LegalCommentsNone,
		LogLevel:            api.LogLevelWarning,
		Metafile:            true,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	files := result.OutputFiles
	for _, name := range []string{"index.html", "icon.svg"} {
		content, err := os.ReadFile(filepath.Join("src", name))
		if err != nil {
			return err
		}
		if name == "index.html" {
			if content, err = preload(content, result.Metafile); err != nil {
				return err
			}
		}
		files = append(files, api.OutputFile{Path: filepath.Join("dist", name), Contents: content})
	}
	licences, err := readLicences()
	if err != nil {
		return err
	}
	files = append(files, api.OutputFile{Path: filepath.Join("dist", "licences.txt"), Contents: licences})
	if err := os.RemoveAll("dist"); err != nil {
		return err
	}
	if err := os.Mkdir("dist", 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.WriteFile(file.Path, file.Contents, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// preload names the files that the page's script imports in the page, so that a browser asks for all of them at once.
func preload(page []byte, metafile string) ([]byte, error) {
	var built struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &built); err != nil {
		return nil, err
	}
	var links strings.Builder
	for _, file := range built.Outputs["dist/console.js"].Imports {
		if file.Kind == "import-statement" {
			fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s\">\n", filepath.Base(file.Path))
		}
	}
	return bytes.Replace(page, []byte("<script"), append([]byte(links.String()), "<script"...), 1), nil
}

// readLicences returns the licences of the packages, each below the package's name.
func readLicences() ([]byte, error) {
	var all strings.Builder
	names, err := filepath.Glob("packages/*/LICENSE")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n", filepath.Base(filepath.Dir(name)), text)
	}
	return []byte(all.String()), nil
}
