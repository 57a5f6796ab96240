// All kernels, as one unit to compile.
#include "counters.cu"
#include "counts.cu"
#include "differences.cu"
#include "moments_levels.cu"
#include "moments_long.cu"
#include "moments_short.cu"
#include "percentiles_long.cu"
#include "percentiles_warp.cu"
#include "percentiles_short.cu"
#include "segment.cu"
#include "unpack.cu"
#ifndef __CUDA__ // correl.cu is a unit of its own on a device
#include "correl.cu"
#endif
