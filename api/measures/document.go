package measures

import (
	"fmt"
	"unsafe"
)

// A document is a parsed body: its values in the order in which they begin. It refers to the body.
type document struct {
	body  []byte
	nodes []node
}

// A node is one value: body[from:to] is its text, without quotes if it is a string. What it contains follows it, up to
// node number end (exclusive): the items of an array, keys and values by turns of an object.
type node struct {
	kind     nodeKind
	escaped  bool // a string with a backslash
	from, to int
	end      int
}

type nodeKind uint8

const (
	nullNode nodeKind = iota
	trueNode
	falseNode
	numberNode // digits, perhaps with point and exponent; or NaN, Infinity, -Infinity
	stringNode
	arrayNode
	objectNode
)

// A member is a key of an object, a view like document.text, and the number of its value's node.
type member struct {
	key   string
	value int
}

// parse makes body the document.
func (d *document) parse(body []byte) error {
	d.body, d.nodes = body, d.nodes[:0]
	p := parser{document: d}
	p.value(0)
	p.space()
	if p.fault == "" && p.at < len(body) {
		p.fail("trailing data")
	}
	if p.fault != "" {
		return &DecodeError{Syntax: true, Reason: fmt.Sprintf("%s at byte %d", p.fault, p.at)}
	}
	return nil
}

// text returns a string node's content, or the text of another one. It is a view of the body: who keeps it clones it.
func (d *document) text(n node) string {
	raw := d.body[n.from:n.to]
	if n.escaped {
		return unescape(raw)
	}
	return unsafe.String(unsafe.SliceData(raw), len(raw))
}

// members returns the members of an object: of those with the same key the last one, at the place of the first.
func (d *document) members(object int) []member {
	n := 0
	for key := object + 1; key < d.nodes[object].end; key = d.nodes[key+1].end {
		n++
	}
	members := make([]member, 0, n)
	places := make(map[string]int, n)
	for key := object + 1; key < d.nodes[object].end; key = d.nodes[key+1].end {
		name := d.text(d.nodes[key])
		if place, ok := places[name]; ok {
			members[place].value = key + 1
			continue
		}
		places[name] = len(members)
		members = append(members, member{name, key + 1})
	}
	return members
}

// member returns the node of the last member of an object that has this key.
func (d *document) member(object int, name string) (value int, ok bool) {
	for key := object + 1; key < d.nodes[object].end; key = d.nodes[key+1].end {
		n := d.nodes[key]
		if d.text(n) == name {
			value, ok = key+1, true
		}
	}
	return value, ok
}
