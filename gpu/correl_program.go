package gpu

import (
	"gnocco/gpu/cu"
	"gnocco/gpu/kernels"
)

// correlProgram is the correlator's kernels on one device.
type correlProgram struct {
	centres, gram, gramCentred             cu.Function
	sides, columns, merge                  cu.Function
	split, mergeGaps                       cu.Function
	coefficients                           cu.Function
	topColumns, histogram, digit, emitting cu.Function
	gramShared                             int
}

// What the sources of the kernels say of their launches.
const (
	correlThreads      = 256
	correlMergeBlocks  = correlTile / correlThreads
	correlColumns      = correlThreads / 32 // a warp each
	correlCentreItems  = correlThreads / 32
	correlGramShared   = 4 * 2 * correlPanel * correlStep * 8
	correlDigits       = 2048
	correlDigitPasses  = 3
	correlGapsProducts = 6
)

// correlImage is the kernels for compute capabilities from a major number on.
type correlImage struct {
	major       int
	ptx         []byte
	gram        string // the kernel of products
	sharedBytes int    // that it takes
}

// correlImages are all of them, the newest first. Later devices take those of earlier ones, too.
var correlImages = []correlImage{
	{9, kernels.Correlation90, "correl_gram", correlGramShared},
	{8, kernels.Correlation80, "correl_gram", correlGramShared},
	{7, kernels.Correlation70, "correl_plain", 0},
}

// correlImageFor returns the newest kernels that a device takes: some of compute capability 8 have tensor cores, but not the shared
// memory. A major number other than 0 chooses from those up to it.
func correlImageFor(p *Properties, most int) correlImage {
	for _, image := range correlImages {
		if image.major <= p.Major && (most == 0 || image.major <= most) && image.sharedBytes <= p.SharedBytesPerBlock {
			return image
		}
	}
	return correlImages[len(correlImages)-1]
}

// loadCorrelProgram takes the kernels up to a major number of the compute capability; 0 for the device's own.
func loadCorrelProgram(e *Engine, most int) (*correlProgram, error) {
	image := correlImageFor(&e.Properties, most)
	module, err := e.Load(image.ptx)
	if err != nil {
		return nil, err
	}
	p := &correlProgram{gramShared: image.sharedBytes}
	for name, function := range map[string]*cu.Function{
		"correl_centres": &p.centres, image.gram: &p.gram, image.gram + "_centred": &p.gramCentred, "correl_sides": &p.sides,
		"correl_columns": &p.columns, "correl_merge": &p.merge, "correl_split": &p.split, "correl_merge_gaps": &p.mergeGaps,
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
