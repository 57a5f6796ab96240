package simd

import "golang.org/x/sys/cpu"

// AVX512 reports whether loops may handle eight numbers at a time: F, CD, BW, DQ and VL, with BMI2 and POPCNT, as
// server processors have had since 2017. It is a variable so that tests can compare both forms of a loop; only tests
// set it.
var AVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ &&
	cpu.X86.HasAVX512VL && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
