package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxTokens bounds an expression, and with it how deep it can nest.
const maxTokens = 1000

// parse reads an expression.
func parse(text string) (check, error) {
	p := &parser{tokens: tokenize(text)}
	if len(p.tokens) == 0 {
		return constant(true), nil
	}
	if len(p.tokens) > maxTokens {
		return nil, fmt.Errorf("more than %d words", maxTokens)
	}
	c, err := p.or()
	if err != nil {
		return nil, err
	}
	if len(p.tokens) > 0 {
		return nil, fmt.Errorf("expected the end, found %q", p.tokens[0])
	}
	return c, nil
}

// tokenize cuts an expression at white space, and parentheses off both ends of each word: "%(id)s" keeps its own.
func tokenize(text string) []string {
	var tokens []string
	for word := range strings.FieldsSeq(text) {
		inner := strings.TrimLeft(word, "(")
		for range len(word) - len(inner) {
			tokens = append(tokens, "(")
		}
		word = strings.TrimRight(inner, ")")
		if word != "" {
			tokens = append(tokens, word)
		}
		for range len(inner) - len(word) {
			tokens = append(tokens, ")")
		}
	}
	return tokens
}

// parser is a parser by recursive descent; tokens are those not yet used.
type parser struct{ tokens []string }

// accept uses the next token if it is this one, in any case.
func (p *parser) accept(token string) bool {
	if len(p.tokens) == 0 || !strings.EqualFold(p.tokens[0], token) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) or() (check, error) {
	parts, err := p.joined("or", p.and)
	return or(parts), err
}

func (p *parser) and() (check, error) {
	parts, err := p.joined("and", p.not)
	return and(parts), err
}

// joined returns checks with a word between them.
func (p *parser) joined(word string, next func() (check, error)) ([]check, error) {
	c, err := next()
	parts := []check{c}
	for err == nil && p.accept(word) {
		c, err = next()
		parts = append(parts, c)
	}
	return parts, err
}

func (p *parser) not() (check, error) {
	if p.accept("not") {
		c, err := p.not()
		return not{c}, err
	}
	if p.accept("(") {
		c, err := p.or()
		if err == nil && !p.accept(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return c, err
	}
	if len(p.tokens) == 0 {
		return nil, errors.New("expected a check, found the end")
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return parseCheck(token)
}

// literal is what a check may compare the target with, instead of a credential.
var literal = regexp.MustCompile(`^(True|False|None|[+-]?\d+(\.\d+)?|'[^']*'|"[^"]*")$`)

func parseCheck(token string) (check, error) {
	switch token {
	case "@":
		return constant(true), nil
	case "!":
		return constant(false), nil
	}
	kind, match, ok := strings.Cut(token, ":")
	if !ok || kind == "" {
		return nil, fmt.Errorf("expected a check such as role:admin, found %q", token)
	}
	switch kind {
	case "rule":
		return ruleCheck(match), nil
	case "http", "https":
		return nil, fmt.Errorf("%q: rules that ask another server are not supported", token)
	}
	t, err := parseTemplate(match)
	if err != nil {
		return nil, err
	}
	if kind == "role" {
		return roleCheck{t}, nil
	}
	if literal.MatchString(kind) {
		return attributeCheck{credential: strings.Trim(kind, `'"`), literal: true, match: t}, nil
	}
	return attributeCheck{credential: kind, match: t}, nil
}
