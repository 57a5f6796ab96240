package pairplot_test

import (
	"bytes"
	"image"
	"image/color"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/internal/pairplot"
	"github.com/gnocco-db/gnocco/correlate"
)

// blocks is a matrix of columns that correlate where their numbers are equal modulo three.
func blocks(n int) (*pairplot.Matrix, []string) {
	m := pairplot.NewMatrix(n)
	names := make([]string, n)
	for i := range n {
		names[i] = "c" + strconv.Itoa(i)
		for j := i + 1; j < n; j++ {
			r := 0.
			if i%3 == j%3 {
				r = 1
			}
			m.Set(correlate.Pair{I: i, J: j, R: r})
		}
	}
	return m, names
}

// Interleaved blocks are drawn as blocks: along a row of the picture, red begins and ends once.
func TestHeatMapShowsBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "map.png")
	m, names := blocks(99) // more than names are written for
	if err := m.HeatMap(file, names); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	bounds := picture.Bounds()
	isRed := func(x, y int) bool {
		c := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
		return c.R > 200 && c.G < 60 && c.B < 60
	}
	for _, part := range []float64{0.25, 0.5, 0.75} {
		y := bounds.Min.Y + int(part*float64(bounds.Dy()))
		changes, red := 0, 0
		for x := bounds.Min.X + 1; x < bounds.Max.X; x++ {
			if isRed(x, y) != isRed(x-1, y) {
				changes++
			}
			if isRed(x, y) {
				red++
			}
		}
		if changes != 2 || math.Abs(float64(red)/float64(bounds.Dx())-1./3) > 0.05 {
			t.Errorf("at %v of the height: %d changes, %d of %d red", part, changes, red, bounds.Dx())
		}
	}
}

func TestFormats(t *testing.T) {
	dir := t.TempDir()
	m, names := blocks(5)
	m.Set(correlate.Pair{I: 0, J: 1, R: math.NaN()})
	for name, start := range map[string]string{"a.svg": "<?xml", "a.png": "\x89PNG"} {
		for _, draw := range []func(string) error{
			func(file string) error { return m.HeatMap(file, names) },
			func(file string) error {
				return pairplot.Scatter(file, "x", "y", []float64{1, 2, math.NaN()}, []float64{3, 4, 5})
			},
		} {
			file := filepath.Join(dir, name)
			if err := draw(file); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(file)
			if err != nil || !bytes.HasPrefix(content, []byte(start)) {
				t.Errorf("%s begins with %.10q (%v)", name, content, err)
			}
		}
	}
	if pairplot.CheckFile("x.gif") == nil || pairplot.CheckFile("x.SVG") != nil {
		t.Error("only .png and .svg are drawn")
	}
	if err := pairplot.Scatter(filepath.Join(dir, "b.png"), "x", "y", []float64{math.NaN()}, []float64{1}); err == nil {
		t.Error("nothing to draw is no error")
	}
	// Numbers of any size have an axis.
	for _, v := range [][]float64{{0, 0}, {-math.MaxFloat64, math.MaxFloat64}, {5e-324, 1e-323}, {1e300, 1e300},
		{1e15, 1e15 + 1}} {
		if err := pairplot.Scatter(filepath.Join(dir, "c.svg"), "x<&>", "y", v, []float64{1, 2}); err != nil {
			t.Error(err)
		}
	}
	one, names := blocks(1)
	if one.HeatMap(filepath.Join(dir, "b.png"), names) == nil {
		t.Error("a single column is drawn")
	}
}
