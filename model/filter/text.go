package filter

import (
	"slices"
	"strings"
)

// ParseText reads a filter from text: comparisons such as field = 'text', joined by and, or and not, in parentheses or
// not; not binds most, or least. Errors are *model.FieldError.
//
//	value   null  true  12.5  'text'  "text"  word  6a1e…-uuid  [value, value]
//
// "==" is refused, as Gnocchi refuses it here, other than in trees.
func ParseText(text string) (*Expr, error) {
	p := &parser{lexer: lexer{text: text}}
	p.advance()
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, expected("end of text", p.token)
	}
	return e, nil
}

// parser is a parser by recursive descent; token is the one not yet used.
type parser struct {
	lexer lexer
	token token
	depth int
}

func (p *parser) advance() { p.token = p.lexer.next() }

// accept uses the token if it is a sign or word of these.
func (p *parser) accept(texts ...string) bool {
	if p.token.kind != tokenSign && p.token.kind != tokenWord || !slices.Contains(texts, p.token.text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) or() (*Expr, error)  { return p.joined(opOr, p.and, "or", "∨") }
func (p *parser) and() (*Expr, error) { return p.joined(opAnd, p.not, "and", "∧") }

// joined reads operands with one of the names between them.
func (p *parser) joined(op operator, operand func() (*Expr, error), names ...string) (*Expr, error) {
	first, err := operand()
	if err != nil {
		return nil, err
	}
	e := &Expr{op: op, operands: []*Expr{first}}
	for p.accept(names...) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		e.operands = append(e.operands, next)
	}
	if len(e.operands) == 1 {
		return first, nil
	}
	return e, nil
}

func (p *parser) not() (*Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errTooDeep
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		operand, err := p.not()
		if err != nil {
			return nil, err
		}
		return &Expr{op: opNot, operands: []*Expr{operand}}, nil
	case p.accept("("):
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, expected("')'", p.token)
		}
		return e, nil
	}
	return p.comparison()
}

func (p *parser) comparison() (*Expr, error) {
	if p.token.kind != tokenWord {
		return nil, expected("a field", p.token)
	}
	e := &Expr{field: p.token.text}
	p.advance()
	op, ok := operators[p.token.text]
	if !ok || op < opEqual || p.token.kind != tokenSign && p.token.kind != tokenWord {
		return nil, expected("a comparison", p.token)
	}
	e.op = op
	p.advance()
	if p.token.kind == tokenSign && p.token.text == "[" {
		return e, p.list(e)
	}
	if op == opIn {
		return nil, expected("'['", p.token)
	}
	value, err := p.value()
	if err != nil {
		return nil, err
	}
	e.values = []literal{value}
	return e, checkText(e)
}

// checkText refuses what a tree refuses.
func checkText(e *Expr) error {
	if e.op == opLike && e.field == "id" {
		return &TreeError{notID, []any{"like", "id"}}
	}
	return nil
}

// list reads the values of in.
func (p *parser) list(e *Expr) error {
	open := p.token
	if e.op != opIn {
		return expected("a value", open)
	}
	p.advance()
	if p.accept("]") {
		return &TreeError{"length of value must be at least 1", []any{"in", e.field}}
	}
	for {
		value, err := p.value()
		if err != nil {
			return err
		}
		e.values = append(e.values, value)
		if p.accept("]") {
			return nil
		}
		if !p.accept(",") {
			return expected("',' or ']'", p.token)
		}
	}
}

func (p *parser) value() (literal, error) {
	t := p.token
	var value literal
	switch {
	case t.kind == tokenText:
		value = t.text
	case t.kind == tokenNumber:
		value = number(t.text)
	case t.kind != tokenWord:
		return nil, expected("a value", t)
	case t.text == "null" || t.text == "none" || t.text == "None":
	case t.text == "true" || t.text == "false" || t.text == "True" || t.text == "False":
		value = strings.EqualFold(t.text, "true")
	default:
		value = t.text
	}
	p.advance()
	return value, nil
}
