package pairplot

import (
	"math"

	"github.com/gnocco-db/gnocco/correlate"
)

// Matrix is coefficients of all pairs; those that it was not given are NaN.
type Matrix struct {
	n int
	r []float64
}

// NewMatrix returns a matrix of n columns, each of which correlates with itself.
func NewMatrix(n int) *Matrix {
	m := &Matrix{n, make([]float64, n*n)}
	for i := range m.r {
		m.r[i] = math.NaN()
	}
	for i := range n {
		m.r[i*n+i] = 1
	}
	return m
}

// Set takes a pair.
func (m *Matrix) Set(p correlate.Pair) {
	m.r[p.I*m.n+p.J], m.r[p.J*m.n+p.I] = p.R, p.R
}

func (m *Matrix) strength(i, j int) float64 {
	if r := m.r[i*m.n+j]; !math.IsNaN(r) {
		return math.Abs(r)
	}
	return 0
}

// order arranges columns so that those that correlate stand side by side: clusters are joined by their mean strength,
// the strongest first, each keeping its own order inside, and turned so that their nearest ends meet.
func (m *Matrix) order() []int {
	clusters := make([][]int, m.n)
	between := make([][]float64, m.n) // mean strength between clusters
	for i := range m.n {
		clusters[i] = []int{i}
		between[i] = make([]float64, m.n)
		for j := range m.n {
			between[i][j] = m.strength(i, j)
		}
	}
	nearest := make([]int, m.n) // of each cluster, the one that is strongest with it
	find := func(i int) {
		nearest[i] = -1
		for j := range m.n {
			if j != i && clusters[j] != nil && (nearest[i] < 0 || between[i][j] > between[i][nearest[i]]) {
				nearest[i] = j
			}
		}
	}
	for i := range m.n {
		find(i)
	}
	for range m.n - 1 {
		a := -1
		for i := range m.n {
			if clusters[i] != nil && (a < 0 || between[i][nearest[i]] > between[a][nearest[a]]) {
				a = i
			}
		}
		b := nearest[a]
		sizeA, sizeB := float64(len(clusters[a])), float64(len(clusters[b]))
		for j := range m.n {
			mean := (sizeA*between[a][j] + sizeB*between[b][j]) / (sizeA + sizeB)
			between[a][j], between[j][a] = mean, mean
		}
		clusters[a], clusters[b] = m.join(clusters[a], clusters[b]), nil
		for i := range m.n {
			if clusters[i] != nil && (i == a || nearest[i] == a || nearest[i] == b ||
				between[i][a] > between[i][nearest[i]]) {
				find(i)
			}
		}
	}
	for _, cluster := range clusters {
		if cluster != nil {
			return cluster
		}
	}
	return nil
}

// join puts b behind a, either turned around if that brings stronger ends together.
func (m *Matrix) join(a, b []int) []int {
	turned := func(c []int, turn bool) []int {
		if !turn {
			return c
		}
		reverse := make([]int, len(c))
		for i, v := range c {
			reverse[len(c)-1-i] = v
		}
		return reverse
	}
	var best []int
	strongest := -1.
	for _, turn := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		x, y := turned(a, turn[0]), turned(b, turn[1])
		if s := m.strength(x[len(x)-1], y[0]); s > strongest {
			strongest = s
			best = append(append([]int{}, x...), y...)
		}
	}
	return best
}
