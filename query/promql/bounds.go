package promql

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"
	"unicode"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"
)

// Bounds of a text, so that it is parsed within a second. Time and memory of Prometheus' parser, and of all that goes
// through its trees, grow with the square of a tree's depth and more. A short regular expression becomes a large
// program: a{1000} has a thousand instructions, and \pL has 600 ranges.
const (
	maxText      = 64 << 10
	maxNesting   = 100     // of parentheses
	maxOperators = 500     // and offsets and ranges: a chain of operators is a tree of as many levels
	maxPattern   = 1 << 18 // instructions and characters of all regular expressions
	maxClasses   = 64      // Unicode classes of all regular expressions
)

// maxFormatted bounds what is also formatted: at each level, the formatter writes all that is below.
const maxFormatted = 16 << 10

// A bounded parser refuses texts beyond these bounds before it parses them.
type bounded struct {
	parser.Parser
	most int // bytes; 0: maxText
}

// ParseExpr implements parser.Parser, as the following do.
func (b bounded) ParseExpr(text string) (parser.Expr, error) {
	if err := b.check(text); err != nil {
		return nil, err
	}
	expr, err := b.Parser.ParseExpr(text)
	return expr, quoteName(err)
}

// ParseMetricSelectors is of parser.Parser. The bounds are those of all texts together.
func (b bounded) ParseMetricSelectors(texts []string) ([][]*labels.Matcher, error) {
	if err := b.check(texts...); err != nil {
		return nil, err
	}
	lists, err := b.Parser.ParseMetricSelectors(texts)
	return lists, quoteName(err)
}

// quoteName says how a name is written that PromQL takes only in quotes, if a fault is within one.
func quoteName(err error) error {
	faults, ok := errors.AsType[parser.ParseErrors](err)
	if !ok || len(faults) == 0 {
		return err
	}
	within := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_:.-", c) }
	text := faults[0].Query
	at := min(int(faults[0].PositionRange.Start), len(text))
	before, after := text[:at], text[at:]
	name := before[len(strings.TrimRightFunc(before, within)):] +
		after[:len(after)-len(strings.TrimLeftFunc(after, within))]
	if strings.IndexFunc(name, unicode.IsLetter) != 0 || common.LegacyValidation.IsValidMetricName(name) {
		return err
	}
	return fmt.Errorf("%w: a metric of this name is written {%q}, and {%q, label=\"value\"} with labels", err, name, name)
}

func (b bounded) check(texts ...string) error {
	most, bytes := b.most, 0
	most = cmp.Or(most, maxText)
	for _, text := range texts {
		bytes += len(text)
	}
	if bytes > most {
		return fmt.Errorf("%d bytes of PromQL: at most %d are parsed", bytes, most)
	}
	var w weight
	for _, text := range texts {
		if err := w.add(text); err != nil {
			return err
		}
	}
	return nil
}

// weight counts what a text's bounds are about.
type weight struct{ operators, pattern, classes int }

func (w *weight) add(text string) error {
	lexer, nesting, braces := parser.Lex(text), 0, false
	for {
		var item parser.Item
		lexer.NextItem(&item)
		switch typ := item.Typ; {
		case typ == parser.EOF, typ == parser.ERROR: // the parser says what is wrong
			return nil
		case typ == parser.LEFT_BRACE, typ == parser.RIGHT_BRACE:
			braces = typ == parser.LEFT_BRACE
		case typ == parser.LEFT_PAREN:
			nesting++
		case typ == parser.RIGHT_PAREN:
			nesting--
		case typ == parser.STRING: // label_replace also has patterns
			w.addPattern(item.Val)
		case typ == parser.OFFSET, typ == parser.LEFT_BRACKET, typ.IsOperator() && !braces:
			w.operators++
		}
		switch {
		case nesting > maxNesting:
			return fmt.Errorf("parentheses are nested deeper than %d levels", maxNesting)
		case w.operators > maxOperators:
			return fmt.Errorf("more than %d operators, ranges and offsets", maxOperators)
		case w.classes > maxClasses:
			return fmt.Errorf("more than %d Unicode classes in regular expressions", maxClasses)
		case w.pattern > maxPattern:
			return fmt.Errorf("regular expressions have more than %d instructions", maxPattern)
		}
	}
}

// addPattern adds the text of a string, if it is a regular expression. Unicode classes are counted first: parsing many
// takes long.
func (w *weight) addPattern(quoted string) {
	text, err := strutil.Unquote(quoted)
	if err != nil {
		return
	}
	w.classes += strings.Count(text, `\p`) + strings.Count(text, `\P`)
	if w.classes > maxClasses {
		return
	}
	if parsed, err := syntax.Parse(text, syntax.Perl|syntax.DotNL); err == nil {
		w.pattern = int(min(float64(w.pattern)+instructions(parsed), math.MaxInt32))
	}
}

// instructions estimates the size of a regular expression's program.
func instructions(re *syntax.Regexp) float64 {
	size := float64(1 + len(re.Rune))
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= float64(max(re.Min, re.Max, 1))
	}
	return size
}
