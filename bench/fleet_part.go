package bench

import (
	"strconv"
	"time"

	"github.com/klauspost/compress/s2"
)

// fleetPart is the measures of one request: some metrics' in some rounds. It is encoded once for several servers.
type fleetPart struct {
	w          *workload
	first, end int // metrics
	from, to   int // rounds
	lineBody   []byte
	writeBody  []byte
}

// fleetHost is the name of a host.
func fleetHost(i int) string { return "h" + strconv.Itoa(1_000_000 + i)[1:] }

// fleetMeter is the name of a metric of each host.
func fleetMeter(i int) string { return "f" + strconv.Itoa(i) }

// lines encodes the part in InfluxDB's line protocol: a line a host and round, with all its meters, as Telegraf does.
func (p *fleetPart) lines() []byte {
	if p.lineBody != nil {
		return p.lineBody
	}
	body := make([]byte, 0, (p.end-p.first)*(p.to-p.from)*16)
	for m := p.first; m < p.end; m += len(meters) {
		for round := p.from; round < p.to; round++ {
			body = append(append(append(body, "m,host="...), fleetHost(m/len(meters))...), ' ')
			for i := range meters {
				if i > 0 {
					body = append(body, ',')
				}
				body = strconv.AppendInt(append(body, 'f'), int64(i), 10)
				body = strconv.AppendFloat(append(body, '='), p.w.values[m+i][round], 'f', -1, 64)
			}
			body = strconv.AppendInt(append(body, ' '), p.w.time(round).UnixNano(), 10)
			body = append(body, '\n')
		}
	}
	p.lineBody = body
	return body
}

// remoteWrite encodes it for Prometheus.
func (p *fleetPart) remoteWrite() []byte {
	if p.writeBody == nil {
		var message []byte
		for m := p.first; m < p.end; m++ {
			labels := [][2]string{{"__name__", "m_" + fleetMeter(m%len(meters))}, {"host", fleetHost(m / len(meters))}}
			message = appendTimeSeries(message, labels, p.w.time(p.from), p.w.step, p.w.values[m][p.from:p.to])
		}
		p.writeBody = s2.EncodeSnappy(nil, message)
	}
	return p.writeBody
}

// json encodes it as measures by metric, in Gnocchi's API; ids are of all metrics.
func (p *fleetPart) json(ids []string) []byte {
	part := &workload{start: p.w.start, step: p.w.step, values: p.w.values[p.first:p.end]}
	return part.bodies(ids[p.first:p.end], Shape{Metrics: p.end - p.first, Measures: p.to - p.from}, p.from, p.to)[0]
}

// unixSeconds writes a time as InfluxDB's and Prometheus' queries take it.
func unixSeconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
