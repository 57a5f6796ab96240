package measures

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A document is a parsed body: its values in the order in which they begin, without those within arrays. An array is
// read as a list of measures while it is parsed: so a body takes no more memory than its measures, however they are
// written. It refers to the body.
type document struct {
	body     []byte
	nodes    []node
	lists    []list
	measures *model.Measures // the lists' measures, one list after the other
	now      carbonara.Timestamp
	twice    error // of members
}

// A node is one value: body[from:to] is its text, without quotes if it is a string. The members of an object follow it,
// keys and values by turns, up to node number end (exclusive). An array is list number from.
type node struct {
	kind     nodeKind
	escaped  bool // a string with a backslash
	from, to uint32
	end      uint32
}

type nodeKind uint8

const (
	absentNode nodeKind = iota
	nullNode
	trueNode
	falseNode
	numberNode // digits, perhaps with point and exponent; or NaN, Infinity, -Infinity
	stringNode
	arrayNode
	objectNode
)

// maxBodyBytes is what a node's offsets reach.
const maxBodyBytes = math.MaxUint32

// A member is a key of an object, a view like document.text, and the number of its value's node.
type member struct {
	key   string
	value uint32
}

// bytesPerMember is what a member of an object takes at most while the object is read: its nodes, its place in members,
// and what is kept by its key.
const bytesPerMember = 200

// parse makes body the document, and appends its measures to dst. Memory for an object's members comes from acquire,
// nil for no bound, which fails the parsing by its error.
func (d *document) parse(body []byte, now carbonara.Timestamp, dst *model.Measures,
	acquire func(bytes int) error) error {
	*d = document{body: body, nodes: d.nodes[:0], lists: d.lists[:0], now: now, measures: dst}
	if len(body) > maxBodyBytes {
		return &DecodeError{Reason: "the body is too long"}
	}
	p := parser{document: d, acquire: acquire}
	p.keep(0)
	p.space()
	if p.fault == "" && p.at < len(body) {
		p.fail("trailing data")
	}
	if p.pay(); p.refused != nil {
		return p.refused
	}
	if p.fault != "" {
		return &DecodeError{Syntax: true, Reason: fmt.Sprintf("%s at byte %d", p.fault, p.at)}
	}
	return nil
}

// forget lets go of the body and the measures, and of memory that only a large body needs.
func (d *document) forget() {
	d.body, d.measures = nil, nil
	if cap(d.nodes) > 64<<10 {
		d.nodes, d.lists = nil, nil
	}
}

// text returns a string node's content, or the text of another one. It is a view of the body: a caller that keeps it
// clones it.
func (d *document) text(n node) string {
	raw := d.body[n.from:n.to]
	if n.escaped {
		return unescape(raw)
	}
	return unsafe.String(unsafe.SliceData(raw), len(raw))
}

// members returns the members of an object, to which keys lead. One that stands there twice is the document's fault:
// Gnocchi takes the last one without a word.
func (d *document) members(object uint32, keys ...string) (members []member) {
	seen := make(map[string]bool)
	for key := object + 1; key < d.nodes[object].end; key = d.nodes[key+1].end {
		name := d.text(d.nodes[key])
		if seen[name] && d.twice == nil {
			d.twice = twiceFault(append(keys, name)...)
		}
		seen[name] = true
		members = append(members, member{name, key + 1})
	}
	return members
}
