package gpu

import (
	"context"
	"errors"
	"sync"
	"time"

	"gnocco/correlate"
)

// Correlator is the correlate.Engine on CUDA devices. Its coefficients are within 1e-12 of the CPU's; what devices can't do, or not
// faster, is done by the CPU: it never fails for lack of one, but reads the source again then.
type Correlator struct {
	options CorrelatorOptions
	devices []*correlDevice
	metrics *engineMetrics
	most    int // major number of the compute capability whose kernels are used; 0: the device's own
}

// correlDevice is a device with its kernels.
type correlDevice struct {
	*Device
	load    sync.Once
	program *correlProgram
	err     error
}

// NewCorrelator returns a correlator on devices, which it opens when they are first needed and does not close.
func NewCorrelator(devices []*Device, options CorrelatorOptions) *Correlator {
	options.EnsureDefaults()
	c := &Correlator{options: options, metrics: newCorrelatorMetrics(options.Registerer)}
	for _, d := range devices {
		c.devices = append(c.devices, &correlDevice{Device: d})
	}
	return c
}

// open opens a device and loads the kernels, see loadCorrelProgram.
func (d *correlDevice) open(ctx context.Context, most int) (*Engine, error) {
	e, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	d.load.Do(func() {
		d.err = d.Do(context.WithoutCancel(ctx), func(e *Engine) (err error) {
			d.program, err = loadCorrelProgram(e, most)
			return err
		})
	})
	return e, d.err
}

// What the CPU does, to choose by: multiply-adds a second and core (docs/benchmarks.md), and how long opening a device may take.
const (
	correlCPURate     = 14e9
	correlOpenSeconds = 0.5
	// Of a source whose rows nobody knows, text most likely, reading takes longer than correlating so many columns.
	correlFewColumns = 640
)

// Wants tells whether a device is expected to be faster than the CPU, the time to open it included.
func (o CorrelatorOptions) Wants(source correlate.Source, what *correlate.Options) bool {
	o.EnsureDefaults()
	columns, lags := source.Columns(), 2*what.MaxLag+1
	if columns > correlMaxColumns || columns < 2 {
		return false
	}
	if o.Always {
		return true
	}
	if sized, ok := source.(correlate.Sized); ok {
		products := float64(columns) * float64(columns) / 2 * float64(lags) * float64(sized.Rows())
		return products > correlOpenSeconds*correlCPURate*float64(o.Workers)
	}
	return columns*lags > correlFewColumns
}

// Correlate implements correlate.Engine.
func (c *Correlator) Correlate(ctx context.Context, source correlate.Source, options correlate.Options, selection correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	options.Columns = source.Columns()
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return correlate.Result{}, err
	}
	if len(c.devices) == 0 || !c.options.Wants(source, &options) {
		return c.onCPU(ctx, source, options, selection, each)
	}
	started := time.Now()
	// Without a top, pairs come by I and J from either engine: if the device fails halfway, the CPU's are left out up to there.
	last := correlate.Pair{I: -1}
	handed := func(p correlate.Pair) error {
		last = p
		return each(p)
	}
	result, err := c.onDevices(ctx, source, options, selection, handed)
	if err == nil || ctx.Err() != nil || !redone(err) {
		c.metrics.done(onDevice, result.Rows*int64(options.Columns), time.Since(started))
		return result, err
	}
	c.options.Logger.Warn("correlating on the CPU", "err", err)
	c.metrics.fallbacks.Inc()
	ordered := selection.Top == 0 && selection.TopPerColumn == 0
	return c.onCPU(ctx, source, options, selection, func(p correlate.Pair) error {
		if ordered && (p.I < last.I || p.I == last.I && p.J <= last.J) {
			return nil
		}
		return each(p)
	})
}

func (c *Correlator) onCPU(ctx context.Context, source correlate.Source, options correlate.Options, selection correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	started := time.Now()
	result, err := correlate.CPU{}.Correlate(ctx, source, options, selection, each)
	c.metrics.done(onCPU, result.Rows*int64(options.Columns), time.Since(started))
	return result, err
}

// redone tells whether the CPU can do what a device could not.
func redone(err error) bool {
	var fault *FaultError
	return errors.As(err, &fault) || errors.Is(err, ErrMemory) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrClosed) ||
		errors.Is(err, errRange) || errors.Is(err, errKernels)
}

// errKernels says that the driver does not take the kernels.
var errKernels = errors.New("gpu: the correlator's kernels do not load")

// opened returns the devices that work.
func (c *Correlator) opened(ctx context.Context) ([]*correlDevice, []*Engine, error) {
	var devices []*correlDevice
	var engines []*Engine
	failure := error(ErrUnavailable)
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
func (c *Correlator) onDevices(ctx context.Context, source correlate.Source, options correlate.Options, selection correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	var result correlate.Result
	started := time.Now()
	devices, engines, err := c.opened(ctx)
	c.metrics.phase("open", time.Since(started))
	if err != nil {
		return result, err
	}
	result.Engine = engines[0].Properties.Name
	rows := int64(0)
	if sized, ok := source.(correlate.Sized); ok {
		rows = sized.Rows()
	}
	shape := newCorrelShape(options.Columns, options.MaxLag, min(c.options.ChunkBytes, int(options.MemoryBytes/8)), rows)
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
			return result, ErrMemory
		}
		pass := &correlPass{correlator: c, shape: &shape, options: options, selection: selection, memory: memory, gaps: gaps}
		for i, r := range shape.balance(rows, len(devices)) {
			pass.bands = append(pass.bands, newCorrelBand(devices[i], engines[i], &shape, r))
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
			c.metrics.phase("pairs", time.Since(started))
		}
		pass.close()
		if err != nil {
			return result, err
		}
		from = rows.to
	}
	return result, selector.Finish()
}
