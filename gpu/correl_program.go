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

// loadCorrelProgram takes the kernels for the device's tensor cores, if it has any for float64 and they are wanted.
func loadCorrelProgram(e *Engine, tensor bool) (*correlProgram, error) {
	image, gram := kernels.Correlation70, "correl_plain"
	if tensor && e.Properties.Major >= 8 {
		image, gram = kernels.Correlation80, "correl_gram"
		if e.Properties.Major >= 9 {
			image = kernels.Correlation90
		}
	}
	module, err := e.Load(image)
	if err != nil {
		return nil, err
	}
	p := new(correlProgram)
	for name, function := range map[string]*cu.Function{
		"correl_centres": &p.centres, gram: &p.gram, gram + "_centred": &p.gramCentred, "correl_sides": &p.sides,
		"correl_columns": &p.columns, "correl_merge": &p.merge, "correl_split": &p.split, "correl_merge_gaps": &p.mergeGaps,
		"correl_coefficients": &p.coefficients, "correl_top_columns": &p.topColumns, "correl_histogram": &p.histogram,
		"correl_digit": &p.digit, "correl_emit": &p.emitting,
	} {
		if *function, err = module.Function(name); err != nil {
			return nil, err
		}
	}
	if gram == "correl_plain" {
		return p, nil
	}
	p.gramShared = correlGramShared
	for _, function := range []cu.Function{p.gram, p.gramCentred} {
		if err := function.SetAttribute(cu.FnMaxDynamicSharedBytes, p.gramShared); err != nil {
			return nil, err
		}
	}
	return p, nil
}
