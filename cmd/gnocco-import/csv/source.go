package csv

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"strings"
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
	say := func(encoding string) { how = strings.TrimPrefix(how+", "+encoding, ", ") }
	head, _ := text.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		say("UTF-16")
		text = bufio.NewReaderSize(&utf16Reader{source: text, big: head[0] == 0xfe}, Peeked)
		_, _, err = text.ReadRune() // the mark
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err = text.Discard(3)
	case bytes.IndexByte(head, 0) >= 0:
		zeros := [2]int{} // at even and at odd places
		for i, c := range head {
			if c == 0 {
				zeros[i%2]++
			}
		}
		if zeros[0] > 0 && zeros[1] > 0 {
			return nil, "", errors.New("has NUL bytes: it is binary")
		}
		say("UTF-16")
		text = bufio.NewReaderSize(&utf16Reader{source: text, big: zeros[0] > 0}, Peeked)
	default:
		if head, _ = text.Peek(Peeked); !isUTF8(head) {
			say("not UTF-8, read as Windows-1252")
			text = bufio.NewReaderSize(&windowsReader{source: text}, Peeked)
		}
	}
	return text, how, err
}

// isUTF8 reports whether a text is UTF-8. Its last character may be cut off.
func isUTF8(text []byte) bool {
	for n := 0; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.Valid(text[:len(text)-n]) {
			return true
		}
	}
	return false
}

// windowsReader reads Windows-1252, and so Latin-1, as UTF-8.
type windowsReader struct{ source *bufio.Reader }

// windowsRunes are those of the bytes from 0x80 to 0x9f.
var windowsRunes = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

func (r *windowsReader) Read(p []byte) (n int, err error) {
	for n+utf8.UTFMax <= len(p) {
		c, err := r.source.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		if unit := rune(c); unit >= 0x80 && unit < 0xa0 {
			n += utf8.EncodeRune(p[n:], windowsRunes[unit-0x80])
		} else {
			n += utf8.EncodeRune(p[n:], unit)
		}
	}
	return n, nil
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
