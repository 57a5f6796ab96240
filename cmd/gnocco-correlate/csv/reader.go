package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/correlate"
)

// Reader reads the columns of one file: a correlate.Source. It is for one goroutine.
type Reader struct {
	open    func() (io.ReadCloser, error)
	options Options
	layout  *layout
	how     string        // the source is packed and encoded
	stream  io.ReadCloser // nil once used
	split   *splitter
	reads   int
	bad     int64
}

// Open reads the header. It reads the text that open returns. It calls open once, and again for every further Read;
// where that is impossible, it returns correlate.ErrOnce. Close ends it.
func Open(open func() (io.ReadCloser, error), options Options) (*Reader, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	r := &Reader{open: open, options: options}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// start opens the text, reads the layout if that is not known, and goes to the first record.
func (r *Reader) start() (err error) {
	if r.stream, err = r.open(); err != nil {
		return err
	}
	text, how, err := csv.TextOf(r.stream)
	if err != nil {
		return fmt.Errorf("csv: the file %w", err)
	}
	if r.layout == nil {
		head, err := text.Peek(csv.Peeked)
		if len(head) == 0 && err != io.EOF {
			return fmt.Errorf("csv: read: %w", err)
		}
		if r.layout, err = newLayout(head, err == io.EOF, &r.options); err != nil {
			return err
		}
		r.how = how
	}
	r.split = &splitter{in: text, rules: r.layout.reader, size: r.options.BlockBytes, line: r.layout.line}
	_, err = text.Discard(r.layout.body)
	return err
}

// EstimateRows implements correlate.Estimated: lines are taken to be as long as the first ones are. A packed file tells
// nothing.
func (r *Reader) EstimateRows() int64 {
	if r.how != "" {
		return 0
	}
	return max(0, int64(float64(r.options.Bytes)/r.layout.mean))
}

// Close closes the text.
func (r *Reader) Close() error {
	if r.stream == nil {
		return nil
	}
	err := r.stream.Close()
	r.stream = nil
	return err
}

// Columns implements correlate.Source.
func (r *Reader) Columns() int { return len(r.layout.names) }

// Names returns the names of the columns. The slice is the reader's own.
func (r *Reader) Names() []string { return r.layout.names }

// Text returns the names of the columns that were left out because they hold no numbers.
func (r *Reader) Text() []string { return r.layout.text }

// Nameless returns how many columns were left out because they have no name.
func (r *Reader) Nameless() int { return r.layout.nameless }

// Timestamps returns the names of the columns that were left out because they hold timestamps, "" for none.
func (r *Reader) Timestamps() string { return r.layout.times }

// Bad returns how many bad cells there were.
func (r *Reader) Bad() int64 { return r.bad }

// Read implements correlate.Source.
func (r *Reader) Read(ctx context.Context, add func([][]float64) error) error {
	if r.reads++; r.reads > 1 {
		if err := errors.Join(r.Close(), r.start()); err != nil { // the last Read may have been broken off
			return err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop(nil)

	ahead := 2 * r.options.Workers // blocks under way
	free := make(chan *block, ahead)
	for range ahead {
		free <- &block{parsed: make(chan struct{}, 1)}
	}
	unparsed, ordered := make(chan *block, ahead), make(chan *block, ahead)
	work.Go(func() {
		defer close(unparsed)
		defer close(ordered)
		r.cut(ctx, stop, free, unparsed, ordered)
	})
	for range r.options.Workers {
		work.Go(func() {
			for b := range unparsed {
				b.parse(r.layout)
				b.parsed <- struct{}{}
			}
		})
	}
	for b := range ordered {
		<-b.parsed
		if ctx.Err() != nil {
			break
		}
		if err := r.deliver(b, add); err != nil {
			return err
		}
		if b.ended {
			break
		}
		free <- b
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.Close()
}

// deliver hands the parsed rows on.
func (r *Reader) deliver(b *block, add func([][]float64) error) error {
	if r.reads == 1 {
		r.bad += b.bad
		for _, cell := range b.told {
			if r.options.BadIsError {
				return cell
			}
			r.options.Report(cell)
		}
	}
	if b.rows == 0 {
		return nil
	}
	return add(b.columns)
}

// cut makes blocks of the text until it ends, or ctx does. A block that was not sent to be parsed delays no reader.
func (r *Reader) cut(ctx context.Context, stop context.CancelCauseFunc, free <-chan *block,
	unparsed, ordered chan<- *block) {
	send := func(b *block) {
		unparsed <- b // there is room for as many as there are
		ordered <- b
	}
	for {
		var b *block
		select {
		case b = <-free:
		case <-ctx.Done():
			return
		}
		var err error
		if b.text, b.line, err = r.split.next(b.text); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			stop(fmt.Errorf("csv: %w", err))
			return
		}
		send(b)
	}
}

var _ correlate.Source = (*Reader)(nil)
