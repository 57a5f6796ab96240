//go:build !amd64

package tile

func gram(dst *[Size]float64, a [3][]float64, b []float64, rows int) { gramGo(dst, a, b, rows) }

func measure(l *lanes, x []float64) int { return measureGo(l, x) }

func pack([]float64, *[Panel][]float64, *Packing, int) int { return 0 }

// Engine names what computes Gram on this machine.
func Engine() string { return "go" }
