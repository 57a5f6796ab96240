package postings

import (
	"hash/maphash"
	"io"
	"strings"
	"unsafe"
)

// symbol is a text: an index of textTable.texts. 0 is "".
type symbol uint32

// textTable has each text once.
type textTable struct {
	texts     []string
	symbols   table           // of texts
	piece     strings.Builder // of memory for texts
	textBytes int64           // roughly
}

// intern returns the symbol of a text, which is new perhaps.
func (t *textTable) intern(text string) symbol {
	if known, ok := t.symbolOf(text); ok {
		return known
	}
	added := symbol(len(t.texts))
	t.texts = append(t.texts, t.keep(text))
	t.symbols.add(maphash.String(seed, text), uint32(added), func(place uint32) uint64 {
		return maphash.String(seed, t.texts[place])
	})
	t.textBytes += int64(len(text)) + bytesPerText
	return added
}

// symbolOf returns the symbol of a known text.
func (t *textTable) symbolOf(text string) (symbol, bool) {
	place, ok := t.symbols.find(maphash.String(seed, text), func(place uint32) bool { return t.texts[place] == text })
	return symbol(place), ok
}

// pieceBytes is the size of the pieces of memory that texts share.
const pieceBytes = 32 << 10

// keep returns a copy of a text.
func (t *textTable) keep(text string) string {
	if len(text) > pieceBytes/8 {
		return strings.Clone(text)
	}
	if t.piece.Cap()-t.piece.Len() < len(text) {
		t.piece.Reset()
		t.piece.Grow(pieceBytes)
	}
	from := t.piece.Len()
	t.piece.WriteString(text)
	return t.piece.String()[from:]
}

// build makes the table of texts that were read.
func (t *textTable) build() {
	t.symbols = newTable(len(t.texts))
	for i, text := range t.texts {
		t.symbols.add(maphash.String(seed, text), uint32(i), nil)
	}
}

// read reads the texts of a file.
func (t *textTable) read(r *fileReader, h *fileHeader) {
	t.texts = make([]string, h.Texts)
	lengths := make([]uint32, h.Texts)
	r.uint32s(h.Texts, func(i int, value uint32) { lengths[i] = value })
	bytes := make([]byte, h.TextBytes)
	if r.err == nil {
		_, r.err = io.ReadFull(r, bytes)
	}
	all := unsafe.String(unsafe.SliceData(bytes), len(bytes)) // bytes is not changed from here on
	for i, length := range lengths {
		if int(length) > len(all) {
			r.err = errFile
			return
		}
		t.texts[i], all = all[:length], all[length:]
	}
}
