package correlate_test

import (
	"context"
	"fmt"
	"math"

	"github.com/gnocco-db/gnocco/correlate"
)

// All pairs of three columns of 1,000 rows, the strongest first. The second column follows the first by two rows.
func ExampleCPU() {
	columns := make(correlate.Values, 3)
	for i := range 1000 {
		x := float64(i)
		columns[0] = append(columns[0], math.Sin(x/5))
		columns[1] = append(columns[1], 1e6-3*math.Sin((x-2)/5))
		columns[2] = append(columns[2], math.Sin(x*x))
	}
	var engine correlate.Engine = correlate.CPU{}
	_, err := engine.Correlate(context.Background(), columns, correlate.Options{MaxLag: 4},
		correlate.Selection{Top: 1}, func(p correlate.Pair) error {
			fmt.Printf("columns %d and %d: %.3f over %d rows, lag %d\n", p.I, p.J, p.R, p.Overlap, p.Lag)
			return nil
		})
	if err != nil {
		panic(err)
	}
	// Output:
	// columns 0 and 1: -1.000 over 998 rows, lag 2
}
