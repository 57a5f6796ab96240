package pairplot

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// save draws into a file, in the format that its name says.
func save(file string, width, height int, draw func(canvas)) (err error) {
	if err := CheckFile(file); err != nil {
		return fmt.Errorf("pairplot: %w", err)
	}
	var c canvas = &shapes{width: width, height: height}
	if strings.EqualFold(filepath.Ext(file), ".png") {
		c = newPixels(width, height)
	}
	draw(c)
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("pairplot: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return c.encode(f)
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
	cells := image.NewNRGBA(image.Rect(0, 0, m.n, m.n))
	for y, row := range order {
		for x, column := range order {
			cells.SetNRGBA(x, y, redBlue(m.r[row*m.n+column]))
		}
	}
	const side, title = 800, 30
	margin := 10 // names may take more
	if m.n <= mostNames {
		for _, name := range names {
			margin = max(margin, letterWidth*len([]rune(name))+10)
		}
	}
	side2 := max(side, m.n) // a pixel a column at least
	area := image.Rect(margin, title, margin+side2, title+side2)
	return save(file, area.Max.X+10, area.Max.Y+margin+10, func(c canvas) {
		c.text(area.Min.X+side2/2, title/2, fmt.Sprintf("Correlation of %d columns", m.n), true, false)
		c.picture(area, cells)
		if m.n > mostNames {
			return
		}
		for k, column := range order {
			middle := (2*k + 1) * side2 / (2 * m.n)
			c.text(area.Min.X-5, area.Min.Y+middle, names[column], false, false)
			c.text(area.Min.X+middle, area.Max.Y+5, names[column], false, true)
		}
	})
}

// redBlue goes from blue by white to red; NaN is grey.
func redBlue(r float64) color.NRGBA {
	fade := uint8(255 * (1 - min(math.Abs(r), 1)))
	switch {
	case math.IsNaN(r):
		return color.NRGBA{200, 200, 200, 255}
	case r < 0:
		return color.NRGBA{fade, fade, 255, 255}
	}
	return color.NRGBA{255, fade, fade, 255}
}

// Scatter draws the rows that two columns share into a file.
func Scatter(file, nameX, nameY string, x, y []float64) error {
	var xs, ys []float64
	for i := range x {
		if x[i]-x[i] == 0 && y[i]-y[i] == 0 {
			xs, ys = append(xs, x[i]), append(ys, y[i])
		}
	}
	if len(xs) == 0 {
		return fmt.Errorf("pairplot: %s and %s share no rows", nameX, nameY)
	}
	across, up := newAxis(xs), newAxis(ys)
	const side, below, above = 640, 50, 15
	left := below
	for _, tick := range up.ticks {
		left = max(left, letterWidth*len(up.label(tick))+30)
	}
	grey := color.Gray{220}
	return save(file, left+side+above, above+side+below, func(c canvas) {
		atX := func(v float64) float64 { return float64(left) + side*across.part(v) }
		atY := func(v float64) float64 { return above + side*(1-up.part(v)) }
		for _, tick := range across.ticks {
			at := int(atX(tick))
			c.line(at, above, at, above+side, grey)
			c.text(at, above+side+14, across.label(tick), true, false)
		}
		for _, tick := range up.ticks {
			at := int(atY(tick))
			c.line(left, at, left+side, at, grey)
			c.text(left-5, at, up.label(tick), false, false)
		}
		c.text(left+side/2, above+side+36, nameX, true, false)
		c.text(12, above+side/2, nameY, true, true)
		for i := range xs {
			c.dot(atX(xs[i]), atY(ys[i]), 1.6, color.NRGBA{30, 80, 200, 120})
		}
	})
}

// axis is from the least value to the largest, with round numbers between.
type axis struct {
	least, largest float64
	ticks          []float64
	step           float64
}

func newAxis(values []float64) axis {
	a := axis{least: slices.Min(values), largest: slices.Max(values)}
	// Halves, as the difference of two finite numbers may be none.
	half := a.largest/2 - a.least/2
	if half == 0 {
		half = max(math.Abs(a.least), 1) / 2
		a.least, a.largest = a.least-half, a.largest+half
	}
	a.step = math.Pow(10, math.Floor(math.Log10(half/2))) // four to ten of them, or some forty
	for _, factor := range []float64{5, 2} {
		if half/(a.step*factor) >= 2 {
			a.step *= factor
			break
		}
	}
	first := math.Ceil(a.least / a.step)
	for i := 0.; (first+i)*a.step <= a.largest && i < 20; i++ {
		a.ticks = append(a.ticks, (first+i)*a.step)
	}
	return a
}

// part says where on the axis a value lies, from 0 to 1.
func (a axis) part(v float64) float64 { return (v/2 - a.least/2) / (a.largest/2 - a.least/2) }

// label shows a tick to as many digits as tell it from the next.
func (a axis) label(tick float64) string {
	size, last := math.Floor(math.Log10(math.Abs(tick))), math.Floor(math.Log10(a.step))
	switch {
	case tick == 0:
		return "0"
	case size < 6 && last > -6:
		return strconv.FormatFloat(tick, 'f', int(max(-last, 0)), 64)
	}
	return strconv.FormatFloat(tick, 'e', int(min(max(size-last, 0), 16)), 64)
}
