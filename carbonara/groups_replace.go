package carbonara

// Overlay puts newer groups over those of g from row on: where both have a group of the same start, newer's row
// counts; a column that newer lacks is kept from g. Both ascend; the columns of g stay. Scratch is reused memory.
func (g *Groups) Overlay(row int, newer, scratch *Groups) {
	if newer.Len() == 0 {
		return
	}
	// The common case: newer reaches back over the last few rows of g at most.
	keep := row + (&Groups{Starts: g.Starts[row:]}).Search(newer.Starts[0])
	if keep == g.Len() {
		g.Append(newer)
		return
	}
	if newer.Starts[newer.Len()-1] >= g.Starts[g.Len()-1] {
		g.open = newer.open
	}
	g.forgetMeans(newer)
	g.addMeans(newer, 0, MaxTimestamp)
	scratch.Reset(g.Granularity, g.Columns)
	scratch.Starts = append(scratch.Starts, g.Starts[keep:]...) // a Slice of g would be made anew each time
	for i, v := range g.Values {
		scratch.Values[i] = append(scratch.Values[i], v[keep:]...)
	}
	g.truncate(keep)
	i, j := 0, 0
	for i < scratch.Len() || j < newer.Len() {
		takeNewer := j < newer.Len() && (i == scratch.Len() || newer.Starts[j] <= scratch.Starts[i])
		both := takeNewer && i < scratch.Len() && newer.Starts[j] == scratch.Starts[i]
		if takeNewer {
			g.Starts = append(g.Starts, newer.Starts[j])
		} else {
			g.Starts = append(g.Starts, scratch.Starts[i])
		}
		for c, column := range g.Columns {
			source := newer.Column(column)
			switch {
			case takeNewer && source != nil:
				g.Values[c] = append(g.Values[c], g.taken(column, newer, source[j]))
			case takeNewer && !both:
				g.Values[c] = append(g.Values[c], absent)
			default:
				g.Values[c] = append(g.Values[c], scratch.Values[c][i])
			}
		}
		if takeNewer {
			j++
		}
		if !takeNewer || both {
			i++
		}
	}
	g.dropSketches()
}

// truncate keeps the first n rows.
func (g *Groups) truncate(n int) {
	g.Starts = g.Starts[:n]
	for c := range g.Values {
		g.Values[c] = g.Values[c][:n]
	}
}
