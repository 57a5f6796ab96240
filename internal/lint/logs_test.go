package lint_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// messages are the methods of a logger that take a message, and keys and values after it.
var messages = []string{"Debug", "Info", "Warn", "Error"}

// attributes are the functions of log/slog that take a key and a value.
var attributes = []string{"Any", "Bool", "Duration", "Float64", "Group", "Int", "Int64", "String", "Time", "Uint64"}

var logKey = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// Keys of log lines are in snake_case, and an error's is "error": operators search for them.
func TestLogKeys(t *testing.T) {
	for _, file := range files(t) {
		if file.test {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, pair := range logged(call) {
				key, isText := text(pair[0])
				switch {
				case !isText:
				case !logKey.MatchString(key):
					t.Errorf("%s: log key %q is not in snake_case", file.path, key)
				case isError(pair[1]) && key != "error":
					t.Errorf("%s: log key of an error is %q, not error", file.path, key)
				}
			}
			return true
		})
	}
}

// logged returns the keys and values of a call that logs.
func logged(call *ast.CallExpr) (pairs [][2]ast.Expr) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	name, receiver := selector.Sel.Name, lastName(selector.X)
	args := call.Args
	switch {
	case receiver == "slog" && slices.Contains(attributes, name):
	case !strings.EqualFold(receiver, "logger") && receiver != "slog":
		return nil
	case name == "With":
	case slices.Contains(messages, name) && len(args) > 0:
		args = args[1:]
	default:
		return nil
	}
	for ; len(args) >= 2; args = args[2:] {
		pairs = append(pairs, [2]ast.Expr{args[0], args[1]})
	}
	return pairs
}

// lastName returns the last name of an expression such as s.options.Logger.
func lastName(expression ast.Expr) string {
	switch x := expression.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// isError reports whether an expression is named as errors are.
func isError(expression ast.Expr) bool {
	if call, ok := expression.(*ast.CallExpr); ok {
		return lastName(call.Fun) == "Err"
	}
	return lastName(expression) == "err"
}

func text(expression ast.Expr) (string, bool) {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}
