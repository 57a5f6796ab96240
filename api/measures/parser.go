package measures

import "unicode/utf8"

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 1024

// A parser fills a document. After a fault it returns at once, and at is where the fault is.
type parser struct {
	*document
	at    int
	fault string
}

func (p *parser) fail(fault string) {
	if p.fault == "" {
		p.fault = fault
	}
}

// peek returns the next byte, 0 at the end, where no token begins with it.
func (p *parser) peek() byte {
	if p.at < len(p.body) {
		return p.body[p.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.body) && isSpace(p.body[p.at]) {
		p.at++
	}
}

// value parses any value, white space before it included.
func (p *parser) value(depth int) {
	p.space()
	number := len(p.nodes)
	p.nodes = append(p.nodes, node{from: p.at})
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth == maxDepth {
			p.fail("nested too deeply")
			return
		}
		if c == '{' {
			p.nodes[number].kind = objectNode
			p.object(depth + 1)
		} else {
			p.nodes[number].kind = arrayNode
			p.array(depth + 1)
		}
	case c == '"':
		p.string(&p.nodes[number])
		p.nodes[number].end = len(p.nodes)
		return
	case c == '-' || isDigit(c):
		p.nodes[number].kind = numberNode
		p.number()
	case c == 'n':
		p.nodes[number].kind = nullNode
		p.word("null")
	case c == 't':
		p.nodes[number].kind = trueNode
		p.word("true")
	case c == 'f':
		p.nodes[number].kind = falseNode
		p.word("false")
	case c == 'N':
		p.nodes[number].kind = numberNode
		p.word("NaN")
	case c == 'I':
		p.nodes[number].kind = numberNode
		p.word("Infinity")
	default:
		p.fail("expected a value")
	}
	p.nodes[number].to, p.nodes[number].end = p.at, len(p.nodes)
}

func (p *parser) array(depth int) {
	p.at++
	p.space()
	if p.peek() == ']' {
		p.at++
		return
	}
	for p.fault == "" {
		p.value(depth)
		p.space()
		switch c := p.peek(); {
		case p.fault != "":
		case c == ',':
			p.at++
		case c == ']':
			p.at++
			return
		default:
			p.fail("expected ',' or ']'")
		}
	}
}

func (p *parser) object(depth int) {
	p.at++
	p.space()
	if p.peek() == '}' {
		p.at++
		return
	}
	for p.fault == "" {
		p.space()
		if p.peek() != '"' {
			p.fail("expected a key")
			return
		}
		p.value(depth)
		p.space()
		if p.peek() != ':' {
			p.fail("expected ':'")
			return
		}
		p.at++
		p.value(depth)
		p.space()
		switch c := p.peek(); {
		case p.fault != "":
		case c == ',':
			p.at++
		case c == '}':
			p.at++
			return
		default:
			p.fail("expected ',' or '}'")
		}
	}
}

// string parses a string and checks its escapes and its UTF-8.
func (p *parser) string(n *node) {
	n.kind = stringNode
	p.at++
	n.from = p.at
	for p.at < len(p.body) {
		switch c := p.body[p.at]; {
		case c == '"':
			n.to = p.at
			p.at++
			return
		case c == 0:
			p.fail("NUL in a string")
			return
		case c == '\\':
			n.escaped = true
			size := escapeSize(p.body[p.at:])
			if size == 0 {
				p.fail("unknown escape sequence")
				return
			}
			p.at += size
		case c < utf8.RuneSelf:
			p.at++
		default:
			r, size := utf8.DecodeRune(p.body[p.at:])
			if r == utf8.RuneError && size == 1 {
				p.fail("invalid UTF-8")
				return
			}
			p.at += size
		}
	}
	p.fail("unterminated string")
}

func (p *parser) number() {
	if p.peek() == '-' {
		p.at++
		if p.peek() == 'I' {
			p.word("Infinity")
			return
		}
	}
	digits := p.digits()
	if p.peek() == '.' {
		p.at++
		digits += p.digits()
	}
	if digits == 0 {
		p.fail("expected a digit")
		return
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peek(); c == '-' || c == '+' {
			p.at++
		}
		if p.digits() == 0 {
			p.fail("expected a digit")
		}
	}
}

func (p *parser) digits() (n int) {
	for p.at < len(p.body) && isDigit(p.body[p.at]) {
		p.at++
		n++
	}
	return n
}

func (p *parser) word(word string) {
	if len(p.body)-p.at < len(word) || string(p.body[p.at:p.at+len(word)]) != word {
		p.fail("expected a value")
		return
	}
	p.at += len(word)
}

// isSpace tells whether c is white space of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isDigit(c byte) bool { return c-'0' <= 9 }
