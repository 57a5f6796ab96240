package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// A Shape says how measures are put into requests.
type Shape struct {
	Metrics     int // in one request
	Measures    int // of each metric in one request
	Connections int // that send at once
}

// String returns the shape as in results: "shape=100x60/connections=4".
func (s Shape) String() string {
	return fmt.Sprintf("shape=%dx%d/connections=%d", s.Metrics, s.Measures, s.Connections)
}

// ParseShapes reads each by ParseShape.
func ParseShapes(texts []string) ([]Shape, error) {
	var shapes []Shape
	for _, text := range texts {
		shape, err := ParseShape(text)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, shape)
	}
	return shapes, nil
}

// ParseShape reads METRICSxMEASURES@CONNECTIONS, the latter 1 if absent.
func ParseShape(text string) (Shape, error) {
	bad := fmt.Errorf("shape %q: want METRICSxMEASURES@CONNECTIONS", text)
	body, connections, found := strings.Cut(text, "@")
	if !found {
		connections = "1"
	}
	metrics, measures, found := strings.Cut(body, "x")
	if !found {
		return Shape{}, bad
	}
	var s Shape
	for _, f := range []struct {
		text string
		to   *int
	}{{metrics, &s.Metrics}, {measures, &s.Measures}, {connections, &s.Connections}} {
		n, err := strconv.Atoi(f.text)
		if err != nil || n < 1 {
			return Shape{}, bad
		}
		*f.to = n
	}
	return s, nil
}

// bodies encodes measures from to to of all series as requests of the shape, earlier measures first; ids[s] is the
// metric of series s. The last requests may be smaller. The bodies lie in one piece of memory.
func (w *workload) bodies(ids []string, shape Shape, from, to int) [][]byte {
	var heads []string
	for i := from; i < to; i++ {
		heads = append(heads, `{"timestamp":"`+w.time(i).Format(timestampFormat)+`","value":`)
	}
	var ends []int
	memory := make([]byte, 0, (to-from)*len(ids)*64)
	for first := from; first < to; first += shape.Measures {
		last := min(first+shape.Measures, to)
		for s := 0; s < len(ids); s += shape.Metrics {
			memory = append(memory, '{')
			for m := s; m < min(s+shape.Metrics, len(ids)); m++ {
				if m > s {
					memory = append(memory, ',')
				}
				memory = append(memory, '"')
				memory = append(memory, ids[m]...)
				memory = append(memory, `":`...)
				memory = appendMeasures(memory, heads[first-from:last-from], w.values[m][first:last])
			}
			memory = append(memory, '}')
			ends = append(ends, len(memory))
		}
	}
	bodies := make([][]byte, len(ends))
	start := 0
	for i, end := range ends {
		bodies[i] = memory[start:end:end]
		start = end
	}
	return bodies
}

func appendMeasures(dst []byte, heads []string, values []float64) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, heads[i]...)
		dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func totalLength(bodies [][]byte) int {
	n := 0
	for _, b := range bodies {
		n += len(b)
	}
	return n
}
