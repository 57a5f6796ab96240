package web

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/gnocco-db/gnocco/internal/budget"
)

// maxUnzippedBytes is the most that a compressed body may be when uncompressed: 180 kB of gzip may become 64 MB.
// Telegraf sends some hundred kilobytes.
const maxUnzippedBytes = 32 << 20

// A zstd frame names the window that its decoder keeps. Decoders need not accept more than 8 MiB (RFC 8878).
const (
	minWindowBytes  = 1 << 20 // of later frames
	maxWindowBytes  = 8 << 20
	zstdFixedBytes  = 512 << 10
	peekedZstdBytes = 512
)

// unpackers begin to uncompress a body, by Content-Encoding: HTTP's, and those of OpenTelemetry's Collector.
var unpackers = map[string]func(ctx context.Context, in io.Reader, use budget.Use) (io.ReadCloser, error){
	"gzip":            func(_ context.Context, in io.Reader, _ budget.Use) (io.ReadCloser, error) { return gzip.NewReader(in) },
	"zstd":            newZstdReader,
	"deflate":         newDeflateReader,
	"zlib":            newDeflateReader,
	"snappy":          newSnappyReader,
	"x-snappy-framed": newSnappyReader,
}

// Uncompressed returns the request with a body, of limit bytes at most, that is not compressed. The body's reader
// reports damage as an answer of 400, and is to be closed.
func (e *Env) Uncompressed(w http.ResponseWriter, r *http.Request, limit int64, use budget.Use) (
	*http.Request, error) {
	encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
	if encoding == "" || encoding == "identity" {
		return r, nil
	}
	unpacker := unpackers[encoding]
	if unpacker == nil {
		return nil, &Error{Status: http.StatusUnsupportedMediaType,
			Detail: "The Content-Encoding has to be gzip, zstd, deflate, zlib, snappy, x-snappy-framed or identity"}
	}
	body := &unpackedBody{encoding: encoding, in: http.MaxBytesReader(w, r.Body, limit)}
	var err error
	if body.out, err = unpacker(r.Context(), packedBody{body}, use); err != nil {
		return nil, body.fault(err)
	}
	plain := *r
	plain.Body, plain.ContentLength = body, -1
	return &plain, nil
}

// unpackedBody reads a compressed body.
type unpackedBody struct {
	encoding string
	in       io.ReadCloser
	inErr    error // of in, but for its end
	out      io.ReadCloser
}

// packedBody is the compressed side of a body.
type packedBody struct{ *unpackedBody }

func (b packedBody) Read(p []byte) (n int, err error) {
	if n, err = b.in.Read(p); err != nil && err != io.EOF {
		b.inErr = err
	}
	return n, err
}

func (b *unpackedBody) Read(p []byte) (n int, err error) {
	if n, err = b.out.Read(p); err != nil && err != io.EOF {
		err = b.fault(err)
	}
	return n, err
}

func (b *unpackedBody) Close() error { return cmp.Or(b.out.Close(), b.in.Close()) }

// fault returns an error of the connection as it is, and one of the decoder as damage.
func (b *unpackedBody) fault(err error) error {
	if b.inErr != nil {
		return unreadableBody(b.inErr, "The body could not be read")
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return unreadableBody(err, fmt.Sprintf("The body could not be uncompressed by %s: %s", b.encoding,
		strings.TrimPrefix(err.Error(), b.encoding+": ")))
}

// zstdReader holds memory for its window until it is closed.
type zstdReader struct {
	*zstd.Decoder
	account *budget.Account
	use     budget.Use
	bytes   int64
}

func newZstdReader(ctx context.Context, in io.Reader, use budget.Use) (io.ReadCloser, error) {
	peeked := bufio.NewReaderSize(in, peekedZstdBytes)
	first, err := peeked.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var header zstd.Header
	if err := header.Decode(first); err != nil {
		return nil, err
	}
	window := header.WindowSize
	if header.SingleSegment {
		window = header.FrameContentSize
	}
	if window = max(window, minWindowBytes); window > maxWindowBytes {
		return nil, fmt.Errorf("a window of %d bytes, of %d at most", window, maxWindowBytes)
	}
	r := &zstdReader{account: budget.Of(ctx), use: use, bytes: int64(window) + zstdFixedBytes}
	if r.account != nil {
		if err := r.account.Await(ctx, use, r.bytes, memoryPatience); err != nil {
			return nil, err
		}
	}
	r.Decoder, err = zstd.NewReader(peeked, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	return r, err
}

func (r *zstdReader) Close() error {
	r.Decoder.Close()
	r.account.Release(r.use, r.bytes)
	return nil
}

// newDeflateReader reads a stream of zlib, as HTTP has it, or one without its header, as some senders do.
func newDeflateReader(_ context.Context, in io.Reader, _ budget.Use) (io.ReadCloser, error) {
	peeked := bufio.NewReader(in)
	header, err := peeked.Peek(2)
	if err != nil {
		return nil, err
	}
	if header[0]&0xf == 8 && (int(header[0])<<8|int(header[1]))%31 == 0 {
		return zlib.NewReader(peeked)
	}
	return flate.NewReader(peeked), nil
}

// snappyFrames begin a stream of frames. Without them a body is one block, as older senders have it.
var snappyFrames = []byte("\xff\x06\x00\x00sNaPpY")

// maxSnappyFrame is the most that a frame becomes.
const maxSnappyFrame = 64 << 10

// snappyBlock holds the memory of a block, packed and unpacked, until it is closed.
type snappyBlock struct {
	bytes.Reader
	account *budget.Account
	use     budget.Use
	held    int64
}

func newSnappyReader(ctx context.Context, in io.Reader, use budget.Use) (io.ReadCloser, error) {
	peeked := bufio.NewReader(in)
	if begin, _ := peeked.Peek(len(snappyFrames)); bytes.Equal(begin, snappyFrames) {
		return io.NopCloser(s2.NewReader(peeked, s2.ReaderMaxBlockSize(maxSnappyFrame))), nil
	}
	b := &snappyBlock{account: budget.Of(ctx), use: use}
	hold := func(n int64) error {
		if b.account == nil {
			return nil
		}
		b.held += n
		return b.account.Await(ctx, use, n, memoryPatience)
	}
	length, _ := peeked.Peek(binary.MaxVarintLen32)
	n, err := s2.DecodedLen(length)
	if err != nil {
		return nil, err
	}
	if n > maxUnzippedBytes {
		return nil, &http.MaxBytesError{Limit: maxUnzippedBytes}
	}
	// A block is hardly longer than its content.
	packedMost := int64(s2.MaxEncodedLen(n))
	if err := hold(int64(n) + packedMost); err != nil {
		return nil, err
	}
	packed, err := io.ReadAll(io.LimitReader(peeked, packedMost+1))
	if err == nil {
		packed, err = s2.Decode(nil, packed)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.Reset(packed)
	return b, nil
}

func (b *snappyBlock) Close() error {
	b.account.Release(b.use, b.held)
	b.held = 0
	return nil
}
