package correlate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// All CUDA devices of the machine correlate, or its CPU where there is none.
func Example() {
	found, err := device.Find("")
	if err != nil && !errors.Is(err, device.ErrUnavailable) {
		panic(err)
	}
	var devices []*device.Device
	for _, properties := range found {
		opened, err := device.New(device.Options{Ordinal: properties.Ordinal})
		if err != nil {
			panic(err)
		}
		defer opened.Close()
		devices = append(devices, opened)
	}
	var engine correlate.Engine = gpucorrelate.New(devices, gpucorrelate.Options{})
	columns := correlate.Values{{1, 2, 3, 4, 5}, {2, 4, 6, 8, 10}, {5, 4, 3, 2, 1}}
	_, err = engine.Correlate(context.Background(), columns, correlate.Options{}, correlate.Selection{},
		func(p correlate.Pair) error {
			fmt.Printf("columns %d and %d: %g\n", p.I, p.J, p.R)
			return nil
		})
	if err != nil {
		panic(err)
	}
	// Output:
	// columns 0 and 1: 1
	// columns 0 and 2: -1
	// columns 1 and 2: -1
}
