package lint_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A folder that holds tests only says what they are for in one of its files.
func TestPackagesHaveOneCommentInDoc(t *testing.T) {
	all := files(t)
	code := make(map[string]bool) // folders that hold more than tests
	for _, file := range all {
		code[file.dir()] = code[file.dir()] || !file.test
	}
	comments := make(map[string][]string) // folder: files with a package comment
	for _, file := range all {
		if file.ast.Doc == nil {
			continue
		}
		comments[file.dir()] = append(comments[file.dir()], file.path)
		want := "Package " + file.ast.Name.Name + " "
		if file.ast.Name.Name == "main" {
			want = "Command " + path.Base(file.dir()) + " "
		}
		if !strings.HasPrefix(file.ast.Doc.Text(), want) {
			t.Errorf("%s: the package comment does not begin with %q", file.path, want)
		}
	}
	for folder, more := range code {
		with := comments[folder]
		if len(with) != 1 || more && path.Base(with[0]) != "doc.go" {
			t.Errorf("%s: package comments in %q, not in doc.go alone", folder, with)
		}
	}
}

// undone finds the marks of work put off. They are written apart here so as not to be found.
var undone = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|not ` + `implemented`)

func TestNothingIsLeftUndone(t *testing.T) {
	for _, file := range files(t) {
		for _, group := range file.ast.Comments {
			if mark := undone.FindString(group.Text()); mark != "" {
				t.Errorf("%s: a comment says %q", file.path, mark)
			}
		}
	}
}

// A comment above a function, a method or a field begins with its name, so that a renaming which forgets it is found. A
// heading for several fields ends with a colon.
func TestCommentsBeginWithTheName(t *testing.T) {
	for _, file := range files(t) {
		if file.test || strings.HasPrefix(file.path, "tests/") || ast.IsGenerated(file.ast) {
			continue
		}
		check := func(doc *ast.CommentGroup, names ...*ast.Ident) {
			text := strings.TrimSpace(doc.Text())
			if text == "" || len(names) == 0 || strings.HasSuffix(text, ":") {
				return
			}
			first := strings.TrimRight(strings.Fields(text)[0], ",.:")
			if !slices.ContainsFunc(names, func(name *ast.Ident) bool { return name.Name == first }) {
				t.Errorf("%s:%d: the comment of %s begins with %q", file.path, file.line(names[0].Pos()), names[0].Name, first)
			}
		}
		ast.Inspect(file.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				check(n.Doc, n.Name)
			case *ast.Field:
				check(n.Doc, n.Names...)
			}
			return true
		})
	}
}
