// The correlator's kernels, as one unit to compile, for each architecture on its own: their products differ.
#include "correl_centres.cu"
#include "correl_coefficients.cu"
#include "correl_gram.cu"
#include "correl_merge.cu"
#include "correl_merge_gaps.cu"
#include "correl_plain.cu"
#include "correl_select.cu"
#include "correl_centred_sides.cu"
