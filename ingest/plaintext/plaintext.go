package plaintext

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Blanks are the characters that mean nothing around names, values and lines, beside line ends.
const Blanks = " \t\v\f"

// Mark is the byte order mark, which means nothing at the beginning of a line.
var Mark = []byte("\ufeff")

// Lines returns the lines of a text, each with its number from 1, without its end and the blanks around it. A line ends
// with a line feed, a carriage return, or both. It may begin with a byte order mark: files are joined end to end.
func Lines(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for number := 1; len(text) > 0; number++ {
			line := text
			if end := End(text); end < len(text) {
				line, text = text[:end], text[end+EndLength(text[end:]):]
			} else {
				text = nil
			}
			if !yield(number, Trim(bytes.TrimPrefix(line, Mark))) {
				return
			}
		}
	}
}

// End returns the index of the first line end of a text, its length for none.
func End(text []byte) int {
	feed := bytes.IndexByte(text, '\n')
	if feed < 0 {
		feed = len(text)
	}
	if carriage := bytes.IndexByte(text[:feed], '\r'); carriage >= 0 {
		return carriage
	}
	return feed
}

// EndLength returns the length of the line end that text begins with.
func EndLength(text []byte) int {
	if bytes.HasPrefix(text, []byte("\r\n")) {
		return 2
	}
	return min(1, len(text))
}

// Ends returns the number of line ends in a text.
func Ends(text []byte) (n int) {
	for end := End(text); end < len(text); end = End(text) {
		n, text = n+1, text[end+EndLength(text[end:]):]
	}
	return n
}

// Trim returns text without the blanks and line ends around it.
func Trim(text []byte) []byte { return bytes.Trim(text, Blanks+"\r\n") }

// Unquoted returns a text without the quotes around it, if it has both.
func Unquoted(text []byte) []byte {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

var errNumber = errors.New("is not a number")

// ErrRange is of a number out of its type's range.
var ErrRange = errors.New("is beyond what 64 bits of floating point hold")

// ParseValue reads a decimal number, NaN or an infinity. It refuses what would become another number: too large, or so
// small that it would be 0.
func ParseValue(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.40q %w", text, ErrRange)
	case err != nil || strings.ContainsAny(text, "xXpP_"):
		return 0, fmt.Errorf("%.40q %w", text, errNumber)
	case value == 0:
		mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
		if strings.ContainsAny(mantissa, "123456789") {
			return 0, fmt.Errorf("%.40q %w", text, ErrRange)
		}
	}
	return value, nil
}
