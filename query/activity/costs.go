package activity

// mostCosts is how many rows the table of costs has.
const mostCosts = 256

// Cost is what all queries with the same text have cost since the process began.
type Cost struct {
	Route   string  `json:"route"`
	Query   string  `json:"query"`
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"` // from the request to the end of its answer, waiting included
	// Over is how far Seconds may be above the truth: the query was not counted while others had its row.
	Over    float64 `json:"over"`
	Metrics int64   `json:"metrics_read"`
	Groups  int64   `json:"groups_read"`
}

type costKey struct{ route, query string }

// costs are the rows of a space-saving sketch by seconds. A query without a row takes that of the cheapest one, and
// starts with the seconds of it. So a query that took more than 1/256 of all seconds always has a row.
type costs map[costKey]*Cost

func (c costs) add(one Cost) {
	key := costKey{one.Route, one.Query}
	if c[key] == nil && len(c) >= mostCosts {
		var least *Cost
		for _, row := range c {
			if least == nil || row.Seconds < least.Seconds {
				least = row
			}
		}
		delete(c, costKey{least.Route, least.Query})
		one.Over = least.Seconds
		one.Seconds += least.Seconds
	}
	c.sum(&one)
}

// sum adds a row without a bound.
func (c costs) sum(one *Cost) {
	row := c[costKey{one.Route, one.Query}]
	if row == nil {
		row = &Cost{Route: one.Route, Query: one.Query}
		c[costKey{one.Route, one.Query}] = row
	}
	row.Count += one.Count
	row.Seconds += one.Seconds
	row.Over += one.Over
	row.Metrics += one.Metrics
	row.Groups += one.Groups
}
