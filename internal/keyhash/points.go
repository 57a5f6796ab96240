package keyhash

// Points tells which points of series came before. It is cheap while the points of each series come together and
// ascend. The zero value has seen none.
type Points struct {
	seen       map[Hash]struct{} // series and, once disordered, points
	ascending  []Hash            // points, until then
	run        Hash              // the series of the last point, and its time
	at         uint64
	disordered bool
}

// Reset forgets all, and keeps the memory.
func (p *Points) Reset() {
	clear(p.seen)
	*p = Points{seen: p.seen, ascending: p.ascending[:0]}
}

// Repeated reports whether there was a point of this series and time before, and notes this one.
func (p *Points) Repeated(series Hash, at uint64) bool {
	key := Hash{series[0] + at, ^series[1]} // at 0, it is not that of the series
	if !p.disordered && (p.run == series && at > p.at || p.run != series && !p.again(series)) {
		p.run, p.at, p.ascending = series, at, append(p.ascending, key)
		return false
	}
	for _, key := range p.ascending {
		p.again(key)
	}
	p.disordered, p.ascending = true, p.ascending[:0]
	return p.again(key)
}

// again reports whether the table has a key, and adds it.
func (p *Points) again(key Hash) bool {
	if p.seen == nil {
		p.seen = map[Hash]struct{}{}
	}
	before := len(p.seen)
	p.seen[key] = struct{}{}
	return len(p.seen) == before
}
