package measures

import (
	"cmp"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 1024

// A parser fills a document. After a fault it returns at once, and at is where the fault is.
type parser struct {
	*document
	at    int
	fault string

	acquire func(bytes int) error // see document.parse
	owed    int                   // bytes that are not acquired yet
	refused error                 // of take
}

func (p *parser) fail(fault string) { p.fault = cmp.Or(p.fault, fault) }

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

// keep parses a value into the next node, and what it contains into those behind that; white space before it included.
func (p *parser) keep(depth int) {
	p.space()
	number := len(p.nodes)
	p.nodes = append(p.nodes, node{})
	var n node
	switch c := p.peek(); {
	case (c == '{' || c == '[') && depth == maxDepth:
		p.fail("nested too deeply")
	case c == '{':
		n.kind = objectNode
		p.object(depth+1, p.keepMember)
	case c == '[':
		n = node{kind: arrayNode, from: uint32(len(p.lists))}
		p.lists = append(p.lists, p.list(depth+1))
	default:
		n = p.scalar()
	}
	n.end = uint32(len(p.nodes))
	p.nodes[number] = n
}

// keepMember keeps a member of an object.
func (p *parser) keepMember(depth int) {
	p.keep(depth)
	if !p.colon() {
		return
	}
	p.keep(depth)
	if p.owed += bytesPerMember; p.owed >= 256<<10 {
		p.pay()
	}
}

// pay acquires the memory of the nodes that were kept since the last call.
func (p *parser) pay() {
	if p.acquire != nil && p.owed > 0 && p.refused == nil {
		if p.refused = p.acquire(p.owed); p.refused != nil {
			p.fail("no memory")
		}
	}
	p.owed = 0
}

// value parses any value and returns its node, which it does not keep; white space before it included.
func (p *parser) value(depth int) (n node) {
	p.space()
	switch c := p.peek(); {
	case (c == '{' || c == '[') && depth == maxDepth:
		p.fail("nested too deeply")
	case c == '{':
		n.kind = objectNode
		p.object(depth+1, p.skipMember)
	case c == '[':
		n.kind = arrayNode
		p.array(depth+1, func(depth int) { p.value(depth) })
	default:
		return p.scalar()
	}
	return n
}

func (p *parser) skipMember(depth int) {
	p.string()
	if p.colon() {
		p.value(depth)
	}
}

// scalar parses a value that contains no other.
func (p *parser) scalar() (n node) {
	n.from = uint32(p.at)
	switch c := p.peek(); {
	case c == '"':
		return p.string()
	case c == '-' || isDigit(c):
		n.kind = numberNode
		p.number()
	case c == 'n':
		n.kind = nullNode
		p.word("null")
	case c == 't':
		n.kind = trueNode
		p.word("true")
	case c == 'f':
		n.kind = falseNode
		p.word("false")
	case c == 'N':
		n.kind = numberNode
		p.word("NaN")
	case c == 'I':
		n.kind = numberNode
		p.word("Infinity")
	default:
		p.fail("expected a value")
	}
	n.to = uint32(p.at)
	return n
}

// array parses an array; item parses each of its items.
func (p *parser) array(depth int, item func(depth int)) {
	p.at++
	p.space()
	if p.peek() == ']' {
		p.at++
		return
	}
	for {
		if item(depth); p.fault != "" {
			return
		}
		p.space()
		switch c := p.peek(); {
		case c == ',':
			p.at++
		case c == ']':
			p.at++
			return
		default:
			p.fail("expected ',' or ']'")
			return
		}
	}
}

// object parses an object; member parses each of its members, from the quote of the key on.
func (p *parser) object(depth int, member func(depth int)) {
	p.at++
	p.space()
	if p.peek() == '}' {
		p.at++
		return
	}
	for {
		p.space()
		if p.peek() != '"' {
			p.fail("expected a key")
			return
		}
		if member(depth); p.fault != "" {
			return
		}
		p.space()
		switch c := p.peek(); {
		case c == ',':
			p.at++
		case c == '}':
			p.at++
			return
		default:
			p.fail("expected ',' or '}'")
			return
		}
	}
}

// colon parses what stands between a key and its value; false if there is a fault.
func (p *parser) colon() bool {
	if p.fault != "" {
		return false
	}
	p.space()
	if p.peek() != ':' {
		p.fail("expected ':'")
		return false
	}
	p.at++
	return true
}

// string parses a string and checks its escapes and its UTF-8.
func (p *parser) string() (n node) {
	n.kind = stringNode
	p.at++
	n.from = uint32(p.at)
	for p.at < len(p.body) {
		switch c := p.body[p.at]; {
		case c == '"':
			n.to = uint32(p.at)
			p.at++
			return n
		case c == 0:
			p.fail("NUL in a string")
			return n
		case c == '\\':
			n.escaped = true
			size := escapeSize(p.body[p.at:])
			if size == 0 {
				p.fail("unknown escape sequence")
				return n
			}
			p.at += size
		case c < utf8.RuneSelf:
			p.at++
		default:
			r, size := utf8.DecodeRune(p.body[p.at:])
			if r == utf8.RuneError && size == 1 {
				p.fail("invalid UTF-8")
				return n
			}
			p.at += size
		}
	}
	p.fail("unterminated string")
	return n
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

// isSpace reports whether c is white space of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isDigit(c byte) bool { return c-'0' <= 9 }
