package plaintext

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// EachKey calls do for the fields of a JSON object, each of which stands there once.
func EachKey(text []byte, do func(key string, value []byte) error) error {
	text = Trim(text)
	if !json.Valid(text) {
		var any any
		return json.Unmarshal(text, &any)
	}
	if text[0] != '{' {
		return fmt.Errorf("%.40s is not an object", text)
	}
	seen := map[string]bool{}
	for text = Trim(text[1:]); text[0] != '}'; {
		end := valueEnd(text)
		var key string
		if err := json.Unmarshal(text[:end], &key); err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("%.100q stands there twice", key)
		}
		seen[key] = true
		text = Trim(Trim(text[end:])[1:]) // the colon
		end = valueEnd(text)
		if err := do(key, Trim(text[:end])); err != nil {
			return err
		}
		if text = text[end:]; text[0] == ',' {
			text = Trim(text[1:])
		}
	}
	return nil
}

// valueEnd returns where the value that valid JSON begins with ends: at a comma, colon or bracket behind it.
func valueEnd(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']'):
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// Whole returns the digits of a number that is whole: without an exponent, and without zeros behind a point. Another
// text stays as it is.
func Whole(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		n, err := strconv.Atoi(text[at+1:])
		if err != nil || n < -400 || n > 400 {
			return text
		}
		mantissa, exponent = text[:at], n
	}
	digits, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits += fraction
	if exponent >= 0 {
		return digits + strings.Repeat("0", exponent)
	}
	split := max(len(digits)+exponent, 0)
	if strings.Trim(digits[split:], "0") != "" {
		return text
	}
	return digits[:split]
}

// words are the numbers that JSON does not have, and texts, in which they mean nothing.
var words = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// QuoteWords puts NaN, Infinity and -Infinity into quotes where they stand outside of texts.
func QuoteWords(body []byte) []byte {
	return words.ReplaceAllFunc(body, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return fmt.Appendf(nil, "%q", word)
	})
}
