package filter

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/model"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenSign             // an operator of signs, a parenthesis, a bracket or a comma
	tokenWord             // a field, an operator of letters, a keyword, or a text without quotes
	tokenNumber           // as written
	tokenText             // between quotes, without them
	tokenBroken           // text that no token begins with
)

// token is a piece of a filter's text.
type token struct {
	kind tokenKind
	text string
	at   int // byte position
}

// The patterns of words and literals. A UUID is looked for first: it may begin with a digit or a letter.
var (
	uuidToken   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}`)
	wordToken   = regexp.MustCompile(`^[\pL_][\pL\pN_]*`)
	numberToken = regexp.MustCompile(`^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?`)
)

// signs, the longer ones first.
var signs = []string{">=", "<=", "!=", ">", "<", "=", "≠", "≥", "≤", "∧", "∨", "(", ")", "[", "]", ","}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
}

// next returns the next token; at the end, and after broken text, the same one for ever.
func (l *lexer) next() token {
	rest := strings.TrimLeft(l.text[l.at:], " \t\r\n")
	l.at = len(l.text) - len(rest)
	if rest == "" {
		return token{tokenEnd, "", l.at}
	}
	if rest[0] == '"' || rest[0] == '\'' {
		return l.quoted(rest)
	}
	for _, p := range []struct {
		pattern *regexp.Regexp
		kind    tokenKind
	}{{uuidToken, tokenText}, {wordToken, tokenWord}, {numberToken, tokenNumber}} {
		if found := p.pattern.FindString(rest); found != "" && !continues(rest[len(found):]) {
			return l.accept(p.kind, found)
		}
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			return l.accept(tokenSign, sign)
		}
	}
	return token{tokenBroken, rest, l.at}
}

// continues reports whether s begins with a character of a word, so that no word ends before it.
func continues(s string) bool { return wordToken.MatchString(s) || s != "" && s[0]-'0' < 10 }

func (l *lexer) accept(kind tokenKind, text string) token {
	t := token{kind, text, l.at}
	l.at += len(text)
	return t
}

// quoted reads a text between quotes. There is no escape: a text with one sort of quotes stands between the other.
func (l *lexer) quoted(rest string) token {
	text, _, closed := strings.Cut(rest[1:], rest[:1])
	if !closed {
		return token{tokenBroken, rest, l.at}
	}
	t := token{tokenText, text, l.at}
	l.at += len(text) + 2
	return t
}

// expected says what should have stood where t does.
func expected(what string, t token) error {
	found := "end of text"
	if t.kind != tokenEnd {
		found = "'" + firstRunes(t.text, 20) + "'"
	}
	reason := fmt.Sprintf("Invalid filter: Expected %s, found %s (at byte %d)", what, found, t.at)
	return &model.FieldError{Field: "filter", Reason: reason}
}

// firstRunes cuts s to n runes.
func firstRunes(s string, n int) string {
	end := 0
	for i := 0; i < n && end < len(s); i++ {
		_, width := utf8.DecodeRuneInString(s[end:])
		end += width
	}
	return strings.ToValidUTF8(s[:end], "�")
}
