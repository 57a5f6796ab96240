// The benchmark's own kernels, as one unit to compile.
#include "sum_ladder.cu"
#include "sum.cu"
