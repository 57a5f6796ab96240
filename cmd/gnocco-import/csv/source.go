package csv

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Peeked is how much of a text is looked at before it is read.
const Peeked = 1 << 20

// TextOf returns the text of a source as UTF-8 without a byte order mark, decompressed. How says what was done to the
// bytes, "" for nothing.
func TextOf(source io.Reader) (text *bufio.Reader, how string, err error) {
	text = bufio.NewReaderSize(source, Peeked)
	begins := func(magic string) bool {
		head, _ := text.Peek(len(magic))
		return string(head) == magic
	}
	var unpacked io.Reader
	switch {
	case begins("\x1f\x8b"):
		how = "gzip"
		unpacked, err = gzip.NewReader(text)
	case begins("\x28\xb5\x2f\xfd"):
		how = "zstd"
		unpacked, err = zstd.NewReader(text, zstd.WithDecoderConcurrency(1))
	case begins("BZh"):
		how, unpacked = "bzip2", bzip2.NewReader(text)
	case begins("\xfd7zXZ\x00"):
		how = "xz"
		unpacked, err = xz.NewReader(text)
	case begins("PK\x03\x04"):
		return nil, "", errors.New("is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV")
	}
	if err != nil {
		return nil, "", err
	}
	if unpacked != nil {
		text = bufio.NewReaderSize(unpacked, Peeked)
	}
	head, _ := text.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		if how != "" {
			how += ", "
		}
		how += "UTF-16"
		text = bufio.NewReaderSize(&utf16Reader{source: text, big: head[0] == 0xfe}, Peeked)
		_, _, err = text.ReadRune() // the mark
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err = text.Discard(3)
	case bytes.IndexByte(head, 0) >= 0:
		err = errors.New("has NUL bytes: it is binary, or UTF-16 without a byte order mark")
	}
	return text, how, err
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	source *bufio.Reader
	big    bool // the high byte comes first
	first  rune // of a pair, 0 for none
}

func (r *utf16Reader) Read(p []byte) (n int, err error) {
	for n+2*utf8.UTFMax <= len(p) {
		pair, err := r.source.Peek(2)
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		unit := rune(pair[0]) | rune(pair[1])<<8
		if r.big {
			unit = rune(pair[1]) | rune(pair[0])<<8
		}
		_, _ = r.source.Discard(2)
		switch {
		case r.first != 0:
			n += utf8.EncodeRune(p[n:], utf16.DecodeRune(r.first, unit))
			r.first = 0
		case utf16.IsSurrogate(unit):
			r.first = unit
		default:
			n += utf8.EncodeRune(p[n:], unit)
		}
	}
	return n, nil
}
