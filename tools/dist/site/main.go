package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// kinds of pages by their folders in docs, as the navigation has them.
var kinds = []struct{ folder, Title string }{{"start", "Start"}, {"how-to", "How to"}, {"send", "Send"},
	{"reference", "Reference"}, {"explain", "Explain"}, {"format", "Formats on disk"}, {"decisions", "Decisions"}}

//go:embed page.html
var pageHTML string
var layout = template.Must(template.New("page").Parse(pageHTML))

//go:embed search.js
var searchJS string

// page is one of docs/.
type page struct {
	source   string // from the repository's root, as docs/how-to/size.md
	Title    string
	anchors  map[string]string // texts of headings by their IDs
	ids      []string          // in their order
	text     []byte
	document ast.Node
}

// target is the page's file in the site.
func (p *page) target() string {
	name := strings.TrimPrefix(p.source, "docs/")
	if path.Base(name) == "README.md" {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

func main() {
	root, out := flag.String("root", "../..", "the repository"), flag.String("out", "../../dist/site", "folder to write")
	flag.Parse()
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// site is the pages of a repository by their sources.
type site struct {
	root, out string
	markdown  goldmark.Markdown
	pages     map[string]*page
	sources   []string
	faults    []error
}

// build writes the site of a repository, and reports every link that leads nowhere.
func build(root, out string) error {
	s := &site{root: root, out: out, pages: make(map[string]*page), markdown: goldmark.New(
		goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		return s.read(name)
	})
	if err == nil {
		err = s.read(filepath.Join(root, "CHANGELOG.md"))
	}
	if err != nil {
		return err
	}
	for _, source := range s.sources {
		s.link(s.pages[source])
	}
	if err := errors.Join(s.faults...); err != nil {
		return err
	}
	for _, source := range s.sources {
		if err := s.write(s.pages[source]); err != nil {
			return err
		}
	}
	return s.writeSearch()
}

func (s *site) read(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	source, err := filepath.Rel(s.root, name)
	if err != nil {
		return err
	}
	p := &page{source: filepath.ToSlash(source), text: content, anchors: make(map[string]string)}
	p.document = s.markdown.Parser().Parse(text.NewReader(content))
	err = ast.Walk(p.document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		heading, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		id, _ := heading.AttributeString("id")
		title := plain(heading, content)
		p.ids = append(p.ids, string(id.([]byte)))
		p.anchors[string(id.([]byte))] = title
		if heading.Level == 1 {
			p.Title = title
		}
		return ast.WalkSkipChildren, nil
	})
	s.pages[p.source], s.sources = p, append(s.sources, p.source)
	return err
}

// plain is the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// link makes the page's links lead to pages of the site, and to copies of the repository's other files.
func (s *site) link(p *page) {
	_ = ast.Walk(p.document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = s.resolve(p, string(n.Destination))
		case *ast.Image:
			n.Destination = s.resolve(p, string(n.Destination))
		}
		return ast.WalkContinue, nil
	})
}

func (s *site) resolve(p *page, link string) []byte {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return []byte(link)
	}
	file, anchor, _ := strings.Cut(link, "#")
	source := p.source
	if file != "" {
		source = path.Join(path.Dir(p.source), file)
	}
	fault := func(why string) []byte {
		s.faults = append(s.faults, fmt.Errorf("%s: %s: %s", p.source, link, why))
		return nil
	}
	to, known := s.pages[source]
	if !known {
		to, known = s.pages[path.Join(source, "README.md")]
	}
	if known {
		if _, ok := to.anchors[anchor]; anchor != "" && !ok {
			return fault("no such heading")
		}
		if anchor != "" {
			anchor = "#" + anchor
		}
		return []byte(relative(p.target(), to.target()) + anchor)
	}
	info, err := os.Stat(filepath.Join(s.root, source))
	if err != nil {
		return fault("no such file")
	}
	if info.IsDir() {
		return []byte(relative(p.target(), "index.html"))
	}
	target := path.Join("files", source)
	content, err := os.ReadFile(filepath.Join(s.root, source))
	if err == nil {
		err = s.put(target, content)
	}
	if err != nil {
		return fault(err.Error())
	}
	return []byte(relative(p.target(), target))
}

func (s *site) put(target string, content []byte) error {
	name := filepath.Join(s.out, target)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644)
}

// relative is the way from one file of the site to another.
func relative(from, to string) string {
	way, _ := filepath.Rel(path.Dir(from), to) // both are relative
	return filepath.ToSlash(way)
}

func (s *site) write(p *page) error {
	type entry struct {
		Title, Address string
		Here           bool
	}
	type group struct {
		Title string
		Open  bool
		Pages []entry
	}
	var nav []group
	for _, kind := range kinds {
		g := group{Title: kind.Title}
		for _, source := range s.sources {
			if q := s.pages[source]; strings.HasPrefix(source, "docs/"+kind.folder+"/") {
				g.Pages = append(g.Pages, entry{q.Title, relative(p.target(), q.target()), q == p})
				g.Open = g.Open || q == p
			}
		}
		if kind.folder != "decisions" { // these are in their own order
			slices.SortFunc(g.Pages, func(a, b entry) int { return strings.Compare(a.Title, b.Title) })
		}
		nav = append(nav, g)
	}
	var body, file bytes.Buffer
	if err := s.markdown.Renderer().Render(&body, p.text, p.document); err != nil {
		return err
	}
	if err := layout.Execute(&file, map[string]any{"Title": p.Title, "Root": relative(p.target(), "."), "Nav": nav,
		"Body": template.HTML(body.String())}); err != nil {
		return err
	}
	return s.put(p.target(), file.Bytes())
}

// writeSearch writes every heading with its page's title and its address. A script holds them, so that the pages also
// search when they are opened as files.
func (s *site) writeSearch() error {
	var rows [][3]string
	for _, source := range s.sources {
		p := s.pages[source]
		for _, id := range p.ids {
			rows = append(rows, [3]string{p.Title, p.anchors[id], p.target() + "#" + id})
		}
	}
	encoded, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return s.put("search.js", slices.Concat([]byte("const headings = "), encoded, []byte(";\n"), []byte(searchJS)))
}
