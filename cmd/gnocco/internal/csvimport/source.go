package csvimport

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/unicode"
)

// peeked is how much of a text is looked at before it is read.
const peeked = 256 << 10

// textOf returns the text of a source as UTF-8 without a byte order mark, decompressed. How says what was done to the
// bytes, "" for nothing.
func textOf(source io.Reader) (text *bufio.Reader, how string, err error) {
	text = bufio.NewReaderSize(source, peeked)
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
		text = bufio.NewReaderSize(unpacked, peeked)
	}
	head, _ := text.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		if how != "" {
			how += ", "
		}
		how += "UTF-16"
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		text = bufio.NewReaderSize(decoder.Reader(text), peeked)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err = text.Discard(3)
	case bytes.IndexByte(head, 0) >= 0:
		err = errors.New("has NUL bytes: it is binary, or UTF-16 without a byte order mark")
	}
	return text, how, err
}
