package correlate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Correlator is the correlate.Engine on CUDA devices. Its coefficients are within 1e-12 of the CPU's. The CPU does work
// that devices cannot do, or not faster: a correlator never fails for lack of a device, but reads the source again
// then.
type Correlator struct {
	options     Options
	devices     []*loadedDevice
	instruments *device.EngineInstruments
	most        int // major number of the compute capability whose kernels are used; 0: the device's own
}

// loadedDevice is a device with its kernels.
type loadedDevice struct {
	*device.Device
	load    sync.Once
	program *program
	err     error
}

// New returns a correlator on devices, which it opens when they are first needed and does not close.
func New(devices []*device.Device, options Options) *Correlator {
	options.EnsureDefaults()
	c := &Correlator{options: options, instruments: newInstruments(options.Registerer)}
	for _, d := range devices {
		c.devices = append(c.devices, &loadedDevice{Device: d})
	}
	return c
}

// open opens a device and loads the kernels, see loadProgram.
func (d *loadedDevice) open(ctx context.Context, most int) (*device.Engine, error) {
	e, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	d.load.Do(func() {
		d.err = d.Do(context.WithoutCancel(ctx), func(e *device.Engine) (err error) {
			d.program, err = loadProgram(e, most)
			return err
		})
	})
	return e, d.err
}

// Correlate implements correlate.Engine.
func (c *Correlator) Correlate(ctx context.Context, source correlate.Source, options correlate.Options,
	selection correlate.Selection, each func(correlate.Pair) error) (correlate.Result, error) {
	options.Columns = source.Columns()
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return correlate.Result{}, err
	}
	if len(c.devices) == 0 || !c.options.Wants(source, &options) {
		return c.onCPU(ctx, source, options, selection, each)
	}
	started := time.Now()
	// Without a top, pairs come by I and J from either engine: if the device fails halfway, the CPU's are left out up
	// to there.
	last := correlate.Pair{I: -1}
	var theirs error // of the caller
	handed := func(p correlate.Pair) error {
		last = p
		theirs = each(p)
		return theirs
	}
	var result correlate.Result
	err := device.Guarded(func() (err error) {
		result, err = c.onDevices(ctx, source, options, selection, handed)
		return err
	})
	if err == nil || ctx.Err() != nil || theirs != nil || errors.As(err, new(sourceError)) {
		c.instruments.Done(device.OnDevice, result.Rows*int64(options.Columns), time.Since(started))
		return result, err
	}
	c.options.Logger.Warn("correlating on the CPU", "error", err)
	c.instruments.FellBack()
	ordered := selection.Top == 0 && selection.TopPerColumn == 0
	return c.onCPU(ctx, source, options, selection, func(p correlate.Pair) error {
		if ordered && (p.I < last.I || p.I == last.I && p.J <= last.J) {
			return nil
		}
		return each(p)
	})
}

func (c *Correlator) onCPU(ctx context.Context, source correlate.Source, options correlate.Options,
	selection correlate.Selection, each func(correlate.Pair) error) (correlate.Result, error) {
	started := time.Now()
	result, err := correlate.CPU{}.Correlate(ctx, source, options, selection, each)
	c.instruments.Done(device.OnCPU, result.Rows*int64(options.Columns), time.Since(started))
	return result, err
}

// errKernels says that the driver does not take the kernels.
var errKernels = errors.New("gpu: the correlator's kernels do not load")

// opened returns the devices that work.
func (c *Correlator) opened(ctx context.Context) ([]*loadedDevice, []*device.Engine, error) {
	var devices []*loadedDevice
	var engines []*device.Engine
	failure := error(device.ErrUnavailable)
	for _, d := range c.devices {
		e, err := d.open(ctx, c.most)
		if err != nil {
			failure = errors.Join(errKernels, err)
			continue
		}
		devices, engines = append(devices, d), append(engines, e)
	}
	if len(devices) == 0 {
		return nil, nil, failure
	}
	return devices, engines, nil
}

// errManyGaps says that gaps made the state of pairs outgrow the devices' memory.
var errManyGaps = errors.New("gpu: gaps take more memory than there is")

// onDevices correlates band after band; all devices have one of their own at a time.
func (c *Correlator) onDevices(ctx context.Context, source correlate.Source, options correlate.Options,
	selection correlate.Selection, each func(correlate.Pair) error) (correlate.Result, error) {
	var result correlate.Result
	started := time.Now()
	devices, engines, err := c.opened(ctx)
	c.instruments.Phase("open", time.Since(started))
	if err != nil {
		return result, err
	}
	result.Engine = engines[0].Properties.Name
	rows := int64(0)
	if sized, ok := source.(correlate.Sized); ok {
		rows = sized.Rows()
	}
	shape := newShape(options.Columns, options.MaxLag, min(c.options.ChunkBytes, int(options.MemoryBytes/8)), rows)
	memory := engines[0].Memory.Budget()
	for _, e := range engines {
		memory = min(memory, e.Memory.Budget())
	}
	memory /= 2 // the rest is for rows and products
	selector := correlate.NewSelector(selection, options.Columns, each)
	gaps := false
	for from := 0; from < shape.panels; {
		rows, ok := shape.bandFrom(from, memory*int64(len(devices)), gaps)
		if !ok {
			return result, device.ErrMemory
		}
		pass := &pass{correlator: c, shape: &shape, options: options, selection: selection, memory: memory, gaps: gaps}
		for i, r := range shape.balance(rows, len(devices)) {
			pass.bands = append(pass.bands, newBand(devices[i], engines[i], &shape, r))
		}
		result.Passes++
		err := pass.timed(ctx, source)
		if errors.Is(err, errManyGaps) && !gaps {
			pass.close()
			gaps = true // narrower bands
			continue
		}
		if err == nil {
			started := time.Now()
			err = pass.hand(ctx, selector, &result)
			c.instruments.Phase("pairs", time.Since(started))
		}
		pass.close()
		if err != nil {
			return result, err
		}
		from = rows.to
	}
	return result, selector.Finish()
}
