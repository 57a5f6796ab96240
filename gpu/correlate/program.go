package correlate

import (
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/kernels"
)

// program is the correlator's kernels on one device.
type program struct {
	centres, gram, gramCentred             cu.Function
	sides, columns, merge                  cu.Function
	split, mergeGaps                       cu.Function
	coefficients                           cu.Function
	topColumns, histogram, digit, emitting cu.Function
	gramShared                             int
}

// Launch parameters, as in the sources of the kernels.
const (
	blockThreads    = 256
	tileMergeBlocks = tileElements / blockThreads
	columnsPerBlock = blockThreads / 32 // a warp each
	centresPerBlock = blockThreads / 32
	gramSharedBytes = 4 * 2 * panelColumns * stepRows * 8
	digitCounts     = 2048
	digitPasses     = 3
	gapProducts     = 6
)

// image is the kernels for compute capabilities from a major number on.
type image struct {
	major       int
	ptx         []byte
	gram        string // the kernel of products
	sharedBytes int    // that it takes
}

// images are all of them, the newest first. Later devices also run images of earlier ones.
var images = []image{
	{9, kernels.Correlation90, "correl_gram", gramSharedBytes},
	{8, kernels.Correlation80, "correl_gram", gramSharedBytes},
	{7, kernels.Correlation70, "correl_plain", 0},
}

// imageFor returns the newest kernels that a device takes: some of compute capability 8 have tensor cores, but not the
// shared memory. A major number other than 0 chooses from those up to it.
func imageFor(p *device.Properties, most int) image {
	for _, image := range images {
		if image.major <= p.Major && (most == 0 || image.major <= most) && image.sharedBytes <= p.SharedBytesPerBlock {
			return image
		}
	}
	return images[len(images)-1]
}

// loadProgram takes the kernels up to a major number of the compute capability; 0 for the device's own.
func loadProgram(e *device.Engine, most int) (*program, error) {
	image := imageFor(&e.Properties, most)
	module, err := e.Load(image.ptx)
	if err != nil {
		return nil, err
	}
	p := &program{gramShared: image.sharedBytes}
	for name, function := range map[string]*cu.Function{
		"correl_centres": &p.centres, image.gram: &p.gram, image.gram + "_centred": &p.gramCentred,
		"correl_sides":   &p.sides,
		"correl_columns": &p.columns, "correl_merge": &p.merge, "correl_split": &p.split,
		"correl_merge_gaps":   &p.mergeGaps,
		"correl_coefficients": &p.coefficients, "correl_top_columns": &p.topColumns, "correl_histogram": &p.histogram,
		"correl_digit": &p.digit, "correl_emit": &p.emitting,
	} {
		if *function, err = module.Function(name); err != nil {
			return nil, err
		}
	}
	if p.gramShared == 0 {
		return p, nil
	}
	for _, function := range []cu.Function{p.gram, p.gramCentred} {
		if err := function.SetAttribute(cu.FnMaxDynamicSharedBytes, p.gramShared); err != nil {
			return nil, err
		}
	}
	return p, nil
}
