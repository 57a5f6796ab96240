package lint_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	// verbs are those of a format.
	verbs = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*[\d.]*[a-zA-Z%]`)
	// plural is a noun behind a number. Two words may stand between them.
	plural = regexp.MustCompile(`^(?: of)?((?: [a-z-]+){0,2}) ([a-z]*[a-rt-z]s)\b`)
	// other are words that stand between a number and a noun that is not what the number counts, and words that end as
	// a plural does.
	other = regexp.MustCompile(`^(a|also|an|and|as|at|behind|by|does|for|from|goes|has|holds|in|is|it|its|keeps|ms|no|not|of|on|one|or|series|stands|takes|than|that|this|timeseries|to|unlike|was|which|while|with|begins|belongs|exists|gives|knows|less|says|needs|answers|asks|runs|saves)$`)
	// bound is the name of a number that is more than 1.
	bound = regexp.MustCompile(`(?i)^(most|max|limit|least)|(?:Most|Limit|Budget)$`)
	// shown is a number in the console's texts, and the words behind it.
	shown = regexp.MustCompile(`\{([^{}]*(?:whole|show|String)\([^{}]*|[^{}?]*[.]length|[a-zA-Z.]*(?:[tT]otal|[cC]ount|number))\}(?:\{" "\})?((?: [a-z]+)* [a-z]+s\b)`)
)

// inner are folders whose messages are about their callers' faults, and about bytes that do not decode.
var inner = []string{"bench", "carbonara", "correlate", "gpu", "tests", "tools"}

// A number is not followed by a noun in the plural, because it may be 1: internal/counted chooses, and the console's
// count. Constants and bounds are known, and bytes are numbers of many outside the commands.
func TestNumbersHaveNoFixedPlural(t *testing.T) {
	constants := map[string][]string{}
	for _, file := range files(t) {
		for _, declaration := range file.ast.Decls {
			if g, ok := declaration.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						constants[file.dir()] = append(constants[file.dir()], name.Name)
					}
				}
			}
		}
	}
	calls := 0
	for _, file := range files(t) {
		if root, _, _ := strings.Cut(file.path, "/"); !file.test && !slices.Contains(inner, root) {
			ast.Inspect(file.ast, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok {
					for noun, number := range nounsOf(call) {
						calls++
						name := lastName(number)
						_, literal := number.(*ast.BasicLit)
						if literal || bound.MatchString(name) || slices.Contains(constants[file.dir()], name) ||
							(noun == "bytes" || noun == "bits") && root != "cmd" {
							continue
						}
						t.Errorf("%s:%d: a number of %s, which may be 1: use counted.Of", file.path, file.line(call.Pos()), noun)
					}
				}
				return true
			})
		}
	}
	if calls < 10 {
		t.Errorf("only %d numbers with nouns are seen", calls)
	}
}

// nounsOf returns the plurals in a call's format, with the arguments before them.
func nounsOf(call *ast.CallExpr) map[string]ast.Expr {
	nouns := map[string]ast.Expr{}
	for i, argument := range call.Args {
		format := joined(argument)
		next := i + 1
		for _, at := range verbs.FindAllStringSubmatchIndex(format, -1) {
			letter := format[at[1]-1]
			if letter == '%' {
				continue
			}
			if at[2] >= 0 {
				n, _ := strconv.Atoi(format[at[2]+1 : at[3]-1])
				next = i + n
			}
			noun := plural.FindStringSubmatch(format[at[1]:])
			if next < len(call.Args) && noun != nil && letter == 'd' &&
				!slices.ContainsFunc(append(strings.Fields(noun[1]), noun[2]), other.MatchString) {
				nouns[noun[2]] = call.Args[next]
			}
			next++
		}
	}
	return nouns
}

// joined returns a text that is written in parts.
func joined(expression ast.Expr) string {
	if sum, ok := expression.(*ast.BinaryExpr); ok {
		return joined(sum.X) + joined(sum.Y)
	}
	part, _ := text(expression)
	return part
}

func TestNumbersOfTheConsoleHaveNoFixedPlural(t *testing.T) {
	sources := 0
	fatal.If(t, filepath.WalkDir(filepath.Join("..", "..", "console", "src"), func(name string, entry os.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".ts", ".tsx"}, path.Ext(name)) {
			return err
		}
		sources++
		source, err := os.ReadFile(name)
		for _, found := range shown.FindAllStringSubmatch(strings.Join(strings.Fields(string(source)), " "), -1) {
			if words := strings.Fields(found[2]); !slices.ContainsFunc(words, other.MatchString) {
				t.Errorf("%s: %s: use count", filepath.Base(name), found[0])
			}
		}
		return err
	}))
	if sources < 40 {
		t.Errorf("only %d sources", sources)
	}
}
