package pairplot

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	// The formats that Save knows by their endings.
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
)

// MaxColumns is the largest heat map: clusters take memory and time by its square and more.
const MaxColumns = 2000

// mostNames are written beside a heat map.
const mostNames = 80

// CheckFile reports whether a file's name ends in a format that is drawn.
func CheckFile(name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".png", ".svg":
		return nil
	}
	return fmt.Errorf("%q does not end in .png or .svg", name)
}

// HeatMap draws the matrix into a file, its columns arranged so that blocks show.
func (m *Matrix) HeatMap(file string, names []string) error {
	if m.n > MaxColumns {
		return fmt.Errorf("pairplot: a heat map has %d columns at most, not %d", MaxColumns, m.n)
	}
	if m.n < 2 {
		return errors.New("pairplot: a heat map takes two columns")
	}
	order := m.order()
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Correlation of %d columns", m.n)
	heat := plotter.NewHeatMap(grid{m, order}, redBlue{})
	heat.Min, heat.Max = -1, 1
	heat.NaN = color.Gray{200}
	heat.Rasterized = m.n > mostNames // else an SVG has a shape a pair
	p.Add(heat)
	p.X.Padding, p.Y.Padding = 0, 0
	if m.n <= mostNames {
		ticks := make([]plot.Tick, m.n)
		reverse := make([]plot.Tick, m.n)
		for k, column := range order {
			ticks[k] = plot.Tick{Value: float64(k), Label: names[column]}
			reverse[k] = plot.Tick{Value: float64(m.n - 1 - k), Label: names[column]}
		}
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(ticks), plot.ConstantTicks(reverse)
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	} else {
		p.HideAxes()
	}
	const side = 22 * vg.Centimeter
	if err := p.Save(side, side, file); err != nil {
		return fmt.Errorf("pairplot: %w", err)
	}
	return nil
}

// grid shows the matrix in an order to the plotter, the first column at the upper left.
type grid struct {
	m     *Matrix
	order []int
}

// Dims, Z, X and Y implement plotter.GridXYZ.
func (g grid) Dims() (c, r int)   { return g.m.n, g.m.n }
func (g grid) X(c int) float64    { return float64(c) }
func (g grid) Y(r int) float64    { return float64(r) }
func (g grid) Z(c, r int) float64 { return g.m.r[g.order[c]*g.m.n+g.order[g.m.n-1-r]] }

// redBlue goes from blue by white to red.
type redBlue struct{}

// Colors implements palette.Palette.
func (redBlue) Colors() []color.Color {
	const shades = 255
	colors := make([]color.Color, shades)
	for i := range colors {
		r := 2*float64(i)/(shades-1) - 1
		fade := uint8(255 * (1 - math.Abs(r)))
		if r < 0 {
			colors[i] = color.RGBA{fade, fade, 255, 255}
		} else {
			colors[i] = color.RGBA{255, fade, fade, 255}
		}
	}
	return colors
}

// Scatter draws the rows that two columns share into a file.
func Scatter(file, nameX, nameY string, x, y []float64) error {
	var points plotter.XYs
	for i := range x {
		if x[i]-x[i] == 0 && y[i]-y[i] == 0 {
			points = append(points, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	if len(points) == 0 {
		return fmt.Errorf("pairplot: %s and %s share no rows", nameX, nameY)
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = nameX, nameY
	scatter, err := plotter.NewScatter(points)
	if err != nil {
		return fmt.Errorf("pairplot: %w", err)
	}
	scatter.Shape = draw.CircleGlyph{}
	scatter.Radius = vg.Points(1.2)
	scatter.Color = color.RGBA{30, 80, 200, 120}
	p.Add(plotter.NewGrid(), scatter)
	if err := p.Save(18*vg.Centimeter, 18*vg.Centimeter, file); err != nil {
		return fmt.Errorf("pairplot: %w", err)
	}
	return nil
}
