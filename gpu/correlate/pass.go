package correlate

import (
	"context"
	"errors"
	"time"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// pass is one reading of a source, for a band on every device.
type pass struct {
	correlator *Correlator
	shape      *shape
	options    correlate.Options
	selection  correlate.Selection
	memory     int64 // for a band's state
	gaps       bool  // from the beginning
	bands      []*band

	packer *packer
	flight []inFlight // the oldest first
	rows   int64

	reading, packing time.Duration // of run; the rest is waiting for devices
}

// inFlight is a job on its way to one device.
type inFlight struct {
	band  *band
	wait  func() error
	chunk *chunk // nil for a job without rows
}

// timed is run, and says what took how long.
func (p *pass) timed(ctx context.Context, source correlate.Source) error {
	started := time.Now()
	err := p.run(ctx, source)
	m := p.correlator.instruments
	m.Phase("read", p.reading)
	m.Phase("pack", p.packing)
	m.Phase("wait", time.Since(started)-p.reading-p.packing)
	return err
}

// run reads the source and adds all rows to the bands.
func (p *pass) run(ctx context.Context, source correlate.Source) error {
	p.packer = newPacker(p.shape, p.correlator.options.Workers)
	p.packer.gaps = p.gaps
	for _, b := range p.bands {
		b.gaps = p.gaps
	}
	err := p.submit(ctx, nil, func(b *band) device.Job { return beginJob{b} })
	if err == nil {
		err = p.read(ctx, source)
	}
	if err == nil {
		err = p.flush(ctx)
	}
	for len(p.flight) > 0 {
		err = errors.Join(err, p.wait())
	}
	if c := p.packer.pop(); c != nil {
		c.up.Release()
	}
	return err
}

// read adds all rows of the source, and measures what it takes itself.
func (p *pass) read(ctx context.Context, source correlate.Source) error {
	last := time.Now()
	var ours error
	err := source.Read(ctx, func(columns [][]float64) error {
		p.reading += time.Since(last)
		ours = p.add(ctx, columns)
		last = time.Now()
		return ours
	})
	p.reading += time.Since(last)
	if err != nil && ours == nil {
		return sourceError{err}
	}
	return err
}

// sourceError is an error of the source itself: the CPU would get the same.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// add takes rows of the source.
func (p *pass) add(ctx context.Context, columns [][]float64) error {
	for from := 0; from < len(columns[0]); {
		if p.packer.chunk == nil {
			up, err := p.pinned()
			if err != nil {
				return err
			}
			p.packer.begin(up)
		}
		started := time.Now()
		n, err := p.packer.add(columns, from)
		p.packing += time.Since(started)
		if err != nil {
			return err
		}
		from += n
		p.rows += int64(n)
		if p.packer.chunk.rows == p.shape.chunk {
			if err := p.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// pinned returns memory for a chunk: new memory if there is any, else that of a finished chunk.
func (p *pass) pinned() (*device.Pinned, error) {
	for {
		up, err := p.bands[0].engine.Uploads.Get(p.shape.chunkBytes())
		if err == nil || !errors.Is(err, device.ErrMemory) || len(p.flight) == 0 {
			return up, err
		}
		if err := p.wait(); err != nil {
			return nil, err
		}
	}
}

// flush sends the chunk to all devices.
func (p *pass) flush(ctx context.Context) error {
	c := p.packer.pop()
	if c == nil {
		return nil
	}
	c.pending = 1 // ours
	defer p.done(c)
	if c.gaps && !p.bands[0].gaps {
		for _, b := range p.bands {
			if p.shape.momentBytes(b.tiles, true) > p.memory {
				return errManyGaps
			}
		}
		if err := p.submit(ctx, nil, func(b *band) device.Job { return splitJob{b} }); err != nil {
			return err
		}
		for len(p.flight) > 0 { // what comes next depends on it
			if err := p.wait(); err != nil {
				return err
			}
		}
	}
	return p.submit(ctx, c, func(b *band) device.Job { return &chunkJob{b, c} })
}

// submit sends a job to every band's device. Some may be under way already, as many as the devices have streams.
func (p *pass) submit(ctx context.Context, chunk *chunk, job func(*band) device.Job) error {
	for _, b := range p.bands {
		for len(p.flight) > b.device.Streams()*len(p.bands) {
			if err := p.wait(); err != nil {
				return err
			}
		}
		wait, err := b.device.Submit(ctx, p.correlator.options.Job(job(b)))
		if err != nil {
			return err
		}
		if chunk != nil {
			chunk.pending++
		}
		p.flight = append(p.flight, inFlight{b, wait, chunk})
	}
	return nil
}

// wait ends the oldest job.
func (p *pass) wait() error {
	f := p.flight[0]
	p.flight = p.flight[1:]
	err := f.wait()
	p.done(f.chunk)
	return err
}

// done gives back a chunk's memory once nobody reads it.
func (p *pass) done(c *chunk) {
	if c == nil {
		return
	}
	if c.pending--; c.pending == 0 {
		c.up.Release()
	}
}

// hand finds the bands' pairs and gives them to the selector.
func (p *pass) hand(ctx context.Context, selector *correlate.Selector, result *correlate.Result) error {
	all := p.selection == correlate.Selection{}
	for i, b := range p.bands {
		o := &outcomeJob{band: b, minOverlap: p.options.MinOverlap, selection: p.selection, all: all}
		if err := b.device.Run(ctx, p.correlator.options.Job(o)); err != nil {
			return err
		}
		if i == 0 {
			result.Rows, result.Constant = p.rows, o.constant
		}
		result.Eligible += o.eligible
		for _, pair := range o.found {
			if err := selector.Add(pair); err != nil {
				return err
			}
		}
		if !all {
			continue
		}
		for row := b.rows.from; row < b.rows.to; row++ {
			f := &fetchJob{band: b, row: row}
			if err := b.device.Run(ctx, p.correlator.options.Job(f)); err != nil {
				return err
			}
			if err := f.pairs(func(pair correlate.Pair) error {
				if pair.Strength() >= 0 {
					result.Eligible++
				}
				return selector.Add(pair)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// close gives back what the bands have.
func (p *pass) close() {
	for _, b := range p.bands {
		b.close()
	}
}
