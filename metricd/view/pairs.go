package view

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
)

// keepCounting leaves the measures of replicas in dst that count and that a read asks for, without the numbers of their
// replicas. Dst reaches further than the read.
func keepCounting(v *replica.Verdicts, dst *carbonara.Groups, read *model.Read) {
	v.Judge(dst.Starts)
	n := 0
	for i, t := range dst.Starts {
		if t = replica.Plain(t); !v.Counts[i] || t < read.From || t >= read.To {
			continue
		}
		dst.Starts[n] = t
		for c := range dst.Values {
			dst.Values[c][n] = dst.Values[c][i]
		}
		n++
	}
	dst.Delete(n, dst.Len())
}
