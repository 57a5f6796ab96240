package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"slices"
	"time"
)

// component is a part of a CycloneDX document.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Ref     string `json:"bom-ref"`
}

// sbom lists what a program was linked from, as it says itself, in CycloneDX 1.5.
func sbom(program, version string, at time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	type metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	document := struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: []component{},
		Metadata: metadata{at.Format(time.RFC3339),
			component{Type: "application", Name: "gnocco", Version: version, Ref: "gnocco"}}}
	add := func(name, version string) {
		url := "pkg:golang/" + name + "@" + version
		library := component{Type: "library", Name: name, Version: version, PURL: url, Ref: url}
		document.Components = append(document.Components, library)
	}
	add("stdlib", info.GoVersion[len("go"):])
	for _, module := range info.Deps {
		if module.Replace == nil { // what stands in for another is of this tree
			add(module.Path, module.Version)
		}
	}
	slices.SortFunc(document.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	text, err := json.MarshalIndent(document, "", "  ")
	return append(text, '\n'), err
}
