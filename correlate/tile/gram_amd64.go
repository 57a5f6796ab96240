package tile

import "golang.org/x/sys/cpu"

// cpu's flags also say that the operating system keeps the registers.
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

func measure(l *lanes, x []float64) int {
	eights := 0
	if hasAVX512 {
		eights = len(x) / 8
	}
	n := 0
	if eights > 0 {
		n = measureAVX512((*[3][8]float64)(l), &x[0], eights)
	}
	return n + measureGo(l, x[8*eights:])
}

// pack packs as many rows as it can, and returns how many.
func pack(dst []float64, columns *[Panel][]float64, p *Packing, rows int) int {
	eights := rows / 8
	if !hasAVX512 || eights == 0 {
		return 0
	}
	var first [Panel]*float64
	for c := range first {
		first[c] = &columns[c][0]
	}
	state := [4][8]float64{p.Centres, p.Scales, p.Sums, p.Squares}
	packAVX512(&dst[0], &first, &state, eights)
	p.Sums, p.Squares = state[2], state[3]
	return 8 * eights
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
