package lint_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unclean holds the folders whose English is not plain yet, with the number of findings in them and in folders below,
// which only goes down. TestEnglish names the sentences of a folder that has more, and asks for a lower number if it
// has fewer.
var unclean = map[string]int{
	"docs/decisions": 0,
}

// countedAs returns the folder of unclean that has or is the folder, or else the folder.
func countedAs(folder string) string {
	for up := folder; up != "."; up = path.Dir(up) {
		if _, ok := unclean[up]; ok {
			return up
		}
	}
	return folder
}

// slack is how far a folder may be from its number: 0, but for the days in which several branches rewrite the tree.
const slack = 0

// constructions are those that a native engineer would not use, with the advice of TestEnglish. The patterns see one
// sentence at a time, without its last mark unless that is "?".
var constructions = []struct {
	advice  string
	pattern *regexp.Regexp
}{
	{"let a noun be the subject, and stand first",
		regexp.MustCompile(`^(?:What|Who|Whoever|Whatever|That of|Those of|Of which|Of what|Nothing|Nobody|None)\b[^?]*$`)},
	{"let a noun be the subject, and stand first",
		regexp.MustCompile(`[:;] (?:(?:what|who|that of|those of|of which)\b|(?:nothing|nobody|none) (?:of|but|else|can|may|will|must|had|\w+s|\w+ed)\b)[^?]*$`)},
	{"name the object by a noun",
		regexp.MustCompile(`\b(?:for|from|by|to|of|with|than|as) (?:who|what) \w+[^?]*$`)},
	{"begin a new sentence, or say whose", regexp.MustCompile(`(?:^|[,;:(] )of which\b|\bof which(?:$|[,;:)])`)},
	{`say "whether"`, regexp.MustCompile(`\bbe (?:it|they)\b`)},
	{`say "also", or leave it out`, regexp.MustCompile(`, too(?:$|[,;:)])|\w too$`)},
	{`say "any" or "every"`, regexp.MustCompile(`(?i)\b(?:whatever|whoever|whichever)\b`)},
	{`say "permanently"`, regexp.MustCompile(`\bfor good(?:$|[,;:)]| [^rm])`)},
	{`say "your", or name the owner`, regexp.MustCompile(`\bone's own\b`)},
}

var (
	quoted      = regexp.MustCompile("`[^`]{0,300}`|\"[^\"]{0,300}\"|“[^”]{0,300}”")
	sentenceEnd = regexp.MustCompile(`[.!]["')*_]*\s+|\?["')*_]*\s+`)
	fenced      = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	newItem     = regexp.MustCompile(`^\s*(?:[-*] |\d+\. |#+ |\||>)`)
)

// sentences splits text at its marks, blank lines, items of lists and cells of tables. It leaves headings out, and
// replaces code and quoted words by a letter.
func sentences(text string) (all []string) {
	var paragraphs []string
	begin := true
	for line := range strings.Lines(quoted.ReplaceAllString(text, "q")) {
		switch item := newItem.FindString(line); {
		case strings.TrimSpace(line) == "" || line[0] == '\t' || strings.HasPrefix(item, "#"):
			begin = true
		case strings.TrimSpace(item) == "|":
			paragraphs, begin = append(paragraphs, strings.Split(line, "|")...), true
		case begin || item != "":
			paragraphs, begin = append(paragraphs, line[len(item):]), false
		default:
			paragraphs[len(paragraphs)-1] += line
		}
	}
	for _, paragraph := range paragraphs {
		paragraph = strings.Join(strings.Fields(paragraph), " ") + " "
		for paragraph != "" {
			end, next := len(paragraph), len(paragraph)
			if at := sentenceEnd.FindStringIndex(paragraph); at != nil {
				end, next = at[0], at[1]
				if paragraph[end] == '?' {
					end++
				}
			}
			all = append(all, strings.Trim(paragraph[:end], " *_"))
			paragraph = paragraph[next:]
		}
	}
	return all
}

// faults returns the sentences of text that have one of constructions, with the advice.
func faults(text string) (found []string) {
	for _, sentence := range sentences(text) {
		for _, c := range constructions {
			if c.pattern.MatchString(sentence) {
				found = append(found, strconv.Quote(sentence)+": "+c.advice)
				break
			}
		}
	}
	return found
}

// literals returns the texts of a file, each with the literals that + appends to it. A text of one word is a name.
func literals(file sourceFile) (all []*ast.BasicLit) {
	var whole func(ast.Expr) string
	whole = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			if e.Kind == token.STRING && err == nil {
				return text
			}
		case *ast.BinaryExpr:
			return whole(e.X) + whole(e.Y)
		}
		return "x"
	}
	ast.Inspect(file.ast, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		switch e.(type) {
		case *ast.BasicLit, *ast.BinaryExpr:
			if text := whole(e); strings.Contains(text, " ") {
				all = append(all, &ast.BasicLit{ValuePos: e.Pos(), Value: text})
			}
			return false
		}
		return true
	})
	return all
}

// Comments, pages and the help of the commands are in plain English, without the habits of this tree that strangers
// stumble over.
func TestEnglish(t *testing.T) {
	found := make(map[string][]string) // folder: findings
	report := func(name string, line int, text string) {
		for _, fault := range faults(text) {
			if line > 0 {
				fault = strconv.Itoa(line) + ": " + fault
			}
			folder := countedAs(path.Dir(name))
			found[folder] = append(found[folder], name+":"+fault)
		}
	}
	checked := 0
	for _, file := range files(t) {
		if ast.IsGenerated(file.ast) {
			continue
		}
		for _, group := range file.ast.Comments {
			checked++
			report(file.path, file.line(group.Pos()), group.Text())
		}
		if !file.test && strings.HasPrefix(file.path, "cmd/gnocco/") {
			for _, text := range literals(file) {
				report(file.path, file.line(text.Pos()), text.Value)
			}
		}
	}
	for _, p := range pages(t, markdown, "docs", "README.md", "CHANGELOG.md") {
		checked++
		report(p.path, 0, fenced.ReplaceAllString(p.text, ""))
	}
	if checked < 5000 {
		t.Errorf("only %d comments and pages were found", checked)
	}
	for folder := range unclean {
		found[folder] = append(found[folder], []string{}...)
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		switch most, n := unclean[folder], len(found[folder]); {
		case n > most+slack:
			t.Errorf("%s has %d sentences to say plainly, more than %d:\n%s", folder, n, most,
				strings.Join(found[folder], "\n"))
		case n < most-slack:
			t.Errorf("%s has %d sentences to say plainly: lower the number %d in unclean", folder, n, most)
		}
	}
}

func TestEnglishFindsEachConstruction(t *testing.T) {
	f := func(findings int, text string) {
		t.Helper()
		if found := faults(text); len(found) != findings {
			t.Errorf("%q has %d findings, want %d: %q", text, len(found), findings, found)
		}
	}
	f(1, "What came late is dropped.")
	f(1, "It is kept. Who asks\nfirst is served.")
	f(1, "Those of other stores wait.")
	f(1, "Nothing is lost; all is synced.")
	f(1, "It ends: nobody waits for it.")
	f(1, "It waits; what came late is dropped.")
	f(1, "It depends on the size of what was sent.")
	f(1, "A wait for who writes\nbegins anew.")
	f(1, "It has ten rows, of which one is empty.")
	f(1, "Columns are read, be it by a device.")
	f(1, "Late measures count, too.")
	f(1, "Late measures count too")
	f(1, "The bits are the same whatever the order.")
	f(1, "A call fails for good.")
	f(1, "It lists one's own jobs.")
	f(2, "- What came late is dropped.\n- What came early is kept.")
	f(1, "| a | What came late |")
	f(1, "# Heading\nWhat came late is dropped")

	f(0, "What does it cost? Who pays?")
	f(0, "# What it costs\n\nLate measures are dropped.")
	f(0, "It returns `what is`, \"for good\", and a list of names.")
	f(0, "\tWhat  | 8 bytes\nA table of bytes.")
	f(0, "The level is too high, too low or none.")
	f(0, "It is for good reasons a table, two rows of which are empty.")
	f(0, "It reports who asks, and what the reason is: none, or nothing yet.")
}
