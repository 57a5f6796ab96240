package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

// withoutIntl keeps uPlot from using Intl as it loads. The first use takes a browser as long as all else that it does
// before a page is seen, and the console names zones and writes numbers itself.
var withoutIntl = api.Plugin{Name: "without-intl", Setup: func(build api.PluginBuild) {
	build.OnLoad(api.OnLoadOptions{Filter: `uPlot\.esm\.js$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := os.ReadFile(args.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		contents := string(text)
		for value, instead := range map[string]string{
			"new Intl.NumberFormat(domEnv ? nav.language : 'en-US')":    "{ format: String }",
			"new Intl.DateTimeFormat().resolvedOptions().timeZone;\n\n": "'';\n\n",
		} {
			if strings.Count(contents, value) != 1 {
				return api.OnLoadResult{}, fmt.Errorf("%s: no single %q", args.Path, value)
			}
			contents = strings.Replace(contents, value, instead, 1)
		}
		return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
	})
}}

func build() error {
	if err := os.Chdir("../../console"); err != nil { // from this module's folder
		return err
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/start.ts", OutputPath: "start"},
			{InputPath: "src/main.tsx", OutputPath: "console"},
			{InputPath: "src/icon.svg", OutputPath: "icon"},
		},
		EntryNames:        "[name]-[hash]", // browsers keep files permanently
		AssetNames:        "[name]-[hash]",
		Loader:            map[string]api.Loader{".svg": api.LoaderCopy},
		Bundle:            true,
		Splitting:         true, // what main.tsx imports by import() is loaded when it is used
		Outdir:            "dist",
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		LineLimit:         200, // so that a change of the sources is a small change here
		LegalComments:     api.LegalCommentsNone,
		LogLevel:          api.LogLevelWarning,
		Metafile:          true,
		Plugins:           []api.Plugin{withoutIntl},
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	page, err := os.ReadFile(filepath.Join("src", "index.html"))
	if err != nil {
		return err
	}
	if page, err = refer(page, result.Metafile); err != nil {
		return err
	}
	files := append(result.OutputFiles, api.OutputFile{Path: filepath.Join("dist", "index.html"), Contents: page})
	licences, err := readLicences(result.Metafile)
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

// refer puts the names of built files into the page, in place of names without hashes. It also names the files that the
// scripts import, so that a browser asks for all of them at once.
func refer(page []byte, metafile string) ([]byte, error) {
	var built struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &built); err != nil {
		return nil, err
	}
	imported := map[string]bool{}
	for path, output := range built.Outputs {
		name := filepath.Base(path)
		plain := hash.ReplaceAllString(name, "")
		if !bytes.Contains(page, []byte(`"`+plain+`"`)) {
			continue
		}
		page = bytes.Replace(page, []byte(`"`+plain+`"`), []byte(`"`+name+`"`), 1)
		for _, file := range output.Imports {
			if file.Kind == "import-statement" {
				imported[filepath.Base(file.Path)] = true
			}
		}
	}
	var links strings.Builder
	for _, name := range slices.Sorted(maps.Keys(imported)) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s\">\n", name)
	}
	return bytes.Replace(page, []byte("</head>"), append([]byte(links.String()), "</head>"...), 1), nil
}

// hash is what the names of built files have before their ending.
var hash = regexp.MustCompile(`-[A-Z0-9]{8}\b`)

// readLicences returns the licences of the packages that the built files have a part of, each below the package's name.
func readLicences(metafile string) ([]byte, error) {
	var built struct{ Inputs map[string]struct{} }
	if err := json.Unmarshal([]byte(metafile), &built); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for input := range built.Inputs {
		if m := ofPackage.FindStringSubmatch(input); m != nil {
			names[m[1]] = true
		}
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(name), "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n", name, text)
	}
	return []byte(all.String()), nil
}

// ofPackage finds the name of the package that a file is of.
var ofPackage = regexp.MustCompile(`^node_modules/((?:@[^/]+/)?[^/]+)/`)
