package pairplot

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// A canvas is drawn on. Lengths are in pixels, from the upper left.
type canvas interface {
	// picture stretches an image over an area.
	picture(area image.Rectangle, img image.Image)
	line(x0, y0, x1, y1 int, c color.Color)
	dot(x, y, radius float64, c color.NRGBA)
	// text ends at a point, or with middle has its middle there; with up it is turned upwards.
	text(x, y int, text string, middle, up bool)
	encode(w io.Writer) error
}

// The font has one width.
const (
	letterWidth  = 7
	letterHeight = 11
)

// pixels is a canvas that becomes PNG.
type pixels struct{ *image.NRGBA }

func newPixels(width, height int) pixels {
	p := pixels{image.NewNRGBA(image.Rect(0, 0, width, height))}
	draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
	return p
}

func (p pixels) picture(area image.Rectangle, img image.Image) {
	from := img.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			p.Set(x, y, img.At(from.Min.X+(x-area.Min.X)*from.Dx()/area.Dx(),
				from.Min.Y+(y-area.Min.Y)*from.Dy()/area.Dy()))
		}
	}
}

// line draws a level or upright one.
func (p pixels) line(x0, y0, x1, y1 int, c color.Color) {
	draw.Draw(p, image.Rect(x0, y0, x1+1, y1+1), image.NewUniform(c), image.Point{}, draw.Src)
}

func (p pixels) dot(x, y, radius float64, c color.NRGBA) {
	area := image.Rect(int(x-radius), int(y-radius), int(x+radius)+2, int(y+radius)+2).Intersect(p.Rect)
	for py := area.Min.Y; py < area.Max.Y; py++ {
		for px := area.Min.X; px < area.Max.X; px++ {
			covered := radius + 0.5 - math.Hypot(float64(px)+0.5-x, float64(py)+0.5-y) // smooth at the edge
			shade := c
			shade.A = uint8(float64(c.A) * min(max(covered, 0), 1))
			draw.Draw(p, image.Rect(px, py, px+1, py+1), image.NewUniform(shade), image.Point{}, draw.Over)
		}
	}
}

func (p pixels) text(x, y int, text string, middle, up bool) {
	letters := image.NewNRGBA(image.Rect(0, 0, letterWidth*len([]rune(text)), letterHeight+3))
	drawer := font.Drawer{Dst: letters, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(0, letterHeight)}
	drawer.DrawString(text)
	size := letters.Rect.Size()
	before := size.X
	if middle {
		before /= 2
	}
	for ty := range size.Y {
		for tx := range size.X {
			at := image.Pt(x-before+tx, y-size.Y/2+ty)
			if up {
				at = image.Pt(x-size.Y/2+ty, y+before-tx)
			}
			if _, _, _, a := letters.At(tx, ty).RGBA(); a > 0 {
				p.Set(at.X, at.Y, color.Black)
			}
		}
	}
}

func (p pixels) encode(w io.Writer) error { return png.Encode(w, p) }

// shapes is a canvas that becomes SVG.
type shapes struct {
	body          bytes.Buffer
	width, height int
}

func (s *shapes) picture(area image.Rectangle, img image.Image) {
	var file bytes.Buffer
	_ = png.Encode(&file, img) // into memory
	fmt.Fprintf(&s.body, `<image x="%d" y="%d" width="%d" height="%d" preserveAspectRatio="none" `,
		area.Min.X, area.Min.Y, area.Dx(), area.Dy())
	fmt.Fprintf(&s.body, `style="image-rendering:pixelated" xlink:href="data:image/png;base64,%s"/>`+"\n",
		base64.StdEncoding.EncodeToString(file.Bytes()))
}

func (s *shapes) line(x0, y0, x1, y1 int, c color.Color) {
	fmt.Fprintf(&s.body, `<path d="M%d.5 %d.5L%d.5 %d.5" stroke="%s"/>`+"\n", x0, y0, x1, y1, paint(c))
}

func (s *shapes) dot(x, y, radius float64, c color.NRGBA) {
	fmt.Fprintf(&s.body, `<circle cx="%.2f" cy="%.2f" r="%g" fill="%s" fill-opacity="%.2f"/>`+"\n",
		x, y, radius, paint(c), float64(c.A)/255)
}

func (s *shapes) text(x, y int, text string, middle, up bool) {
	anchor, turn := "end", ""
	if middle {
		anchor = "middle"
	}
	if up {
		turn = fmt.Sprintf(` transform="rotate(-90 %d %d)"`, x, y)
	}
	fmt.Fprintf(&s.body, `<text x="%d" y="%d" text-anchor="%s" dominant-baseline="middle"%s>`, x, y, anchor, turn)
	_ = xml.EscapeText(&s.body, []byte(text)) // into memory
	s.body.WriteString("</text>\n")
}

func (s *shapes) encode(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%[1]d" height="%[2]d"`+
		` viewBox="0 0 %[1]d %[2]d" font-family="monospace" font-size="12">
<rect width="100%%" height="100%%" fill="white"/>
`, s.width, s.height)
	_, _ = out.Write(s.body.Bytes())
	_, _ = out.WriteString("</svg>\n")
	return out.Flush()
}

func paint(c color.Color) string {
	opaque := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", opaque.R, opaque.G, opaque.B)
}
