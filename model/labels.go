package model

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf8"
)

// LabelName is the label that holds a series' name.
const LabelName = "__name__"

// Labels are those of a series that was pushed with labels, its name among them: name and value of each, by name, each
// text after its length as a uvarint. "" stands for a metric that was not pushed so.
type Labels string

// AppendLabel appends a label to labels. Names ascend; neither a name nor a value is empty.
func AppendLabel[T ~string | ~[]byte](dst []byte, name, value T) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
	return append(binary.AppendUvarint(dst, uint64(len(value))), value...)
}

// All returns the labels by name. It ends early if they are not Valid.
func (l Labels) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for rest := l; rest != ""; {
			name, ok := rest.next()
			if !ok {
				return
			}
			value, ok := rest.next()
			if !ok || !yield(name, value) {
				return
			}
		}
	}
}

// next takes the first text from l.
func (l *Labels) next() (string, bool) {
	var length uint64
	for at := 0; at < len(*l) && at < binary.MaxVarintLen64; at++ {
		b := (*l)[at]
		length |= uint64(b&0x7f) << (7 * at)
		if b >= 0x80 {
			continue
		}
		rest := (*l)[at+1:]
		if length > uint64(len(rest)) {
			return "", false
		}
		*l = rest[length:]
		return string(rest[:length]), true
	}
	return "", false
}

// textLength returns how many bytes a text takes.
func textLength(text string) int { return (bits.Len(uint(len(text)|1))+6)/7 + len(text) }

// Get returns the value of a label, "" for none.
func (l Labels) Get(name string) string {
	for n, value := range l.All() {
		if n == name {
			return value
		}
	}
	return ""
}

// Valid reports whether l is what AppendLabel makes: whole, in order and valid UTF-8.
func (l Labels) Valid() bool {
	length, last := 0, "" // as AppendLabel writes what could be read
	for name, value := range l.All() {
		if name <= last || value == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return false
		}
		length, last = length+textLength(name)+textLength(value), name
	}
	return length == len(l)
}
