package tile

import "golang.org/x/sys/cpu"

// cpu's flags say that the operating system keeps the registers, too.
var (
	hasAVX512 = cpu.X86.HasAVX512F
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

func gram(dst *[Size]float64, a [3][]float64, b []float64, rows int) {
	switch {
	case hasAVX512:
		gramAVX512(&dst[0], &a[0][0], &a[1][0], &a[2][0], &b[0], rows)
	case hasAVX2:
		for p, panel := range a {
			gramAVX2(&dst[p*Panel*Panel], &panel[0], &b[0], rows)
		}
	default:
		gramGo(dst, a, b, rows)
	}
}

// Engine names what computes Gram on this machine.
func Engine() string {
	switch {
	case hasAVX512:
		return "avx512"
	case hasAVX2:
		return "avx2"
	}
	return "go"
}
