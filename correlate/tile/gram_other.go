//go:build !amd64

package tile

func gram(dst *[Size]float64, a [3][]float64, b []float64, rows int) { gramGo(dst, a, b, rows) }

// Engine names what computes Gram on this machine.
func Engine() string { return "go" }
