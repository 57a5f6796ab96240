package bytesize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is the value of a flag that holds a number of bytes, written as "64MiB", "1.5GB" or "1024".
type Size int64

var units = []struct {
	name string
	size float64
}{ // the longer name of two that end alike goes first
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

func (b *Size) Set(text string) error {
	text = strings.TrimSpace(text)
	for _, unit := range units {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if size := value * unit.size; err == nil && size >= 0 && size < math.MaxInt64 {
			*b = Size(size)
			return nil
		}
		break
	}
	return fmt.Errorf("%q is not a size like 64MiB", text)
}

func (b *Size) String() string {
	for _, unit := range units[:4] {
		if size := int64(unit.size); *b > 0 && int64(*b)%size == 0 {
			return strconv.FormatInt(int64(*b)/size, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *Size) Type() string { return "size" }
