package aggregates

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
)

// parseText reads the first S-expression of text into lists of strings and lists; it ignores the rest, as Gnocchi does.
// A word in quotes may hold blanks and parentheses; a backslash takes the next character as it is.
func parseText(text string) ([]any, error) {
	r := textReader{text: text}
	r.skipSpace()
	if r.at == len(text) || text[r.at] != '(' {
		return nil, r.fault("Expected '('")
	}
	return r.list(1)
}

type textReader struct {
	text string
	at   int // bytes
}

// fault says where it is in the words of Gnocchi's parser.
func (r *textReader) fault(format string, args ...any) error {
	before := r.text[:r.at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{Reason: fmt.Sprintf(format, args...) + fmt.Sprintf("  (at char %d), (line:%d, col:%d)",
		utf8.RuneCountInString(before), 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(line))}
}

const space = " \t\r\n"

func (r *textReader) skipSpace() {
	for r.at < len(r.text) && strings.IndexByte(space, r.text[r.at]) >= 0 {
		r.at++
	}
}

// list reads a list that begins here.
func (r *textReader) list(depth int) ([]any, error) {
	if depth > maxDepth {
		return nil, r.fault("Operations are nested more than %d deep", maxDepth)
	}
	r.at++
	items := []any{}
	for {
		r.skipSpace()
		if r.at == len(r.text) {
			return nil, r.fault("Expected ')', found end of text")
		}
		switch c := r.text[r.at]; c {
		case ')':
			r.at++
			return items, nil
		case '(':
			item, err := r.list(depth + 1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		case '"', '\'':
			item, err := r.quoted(c)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		default:
			end := strings.IndexAny(r.text[r.at:], space+"()")
			if end < 0 {
				end = len(r.text) - r.at
			}
			end += thresholdLength(r.text[r.at:], end)
			items = append(items, r.text[r.at:r.at+end])
			r.at += end
		}
	}
}

// thresholdLength returns the length of the parentheses behind a word that ends there, 0 if both are no aggregation
// method.
func thresholdLength(text string, end int) int {
	length := strings.IndexByte(text[end:], ')') + 1
	if !strings.HasPrefix(text[end:], "(") {
		return 0
	}
	if _, err := carbonara.ParseMethod(text[:end+length]); err != nil {
		return 0
	}
	return length
}

func (r *textReader) quoted(quote byte) (string, error) {
	start := r.at
	var word strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == quote:
			r.at++
			return word.String(), nil
		case c == '\\' && r.at+1 < len(r.text):
			r.at++
			word.WriteByte(r.text[r.at])
		default:
			word.WriteByte(c)
		}
	}
	r.at = start
	return "", r.fault("Expected a closing %c", quote)
}
