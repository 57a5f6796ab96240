package claim

// Rendezvous returns the member that should hold name, nil if there is none. Every process that has the same members in
// mind comes to the same answer; when one comes or goes, only what it gets or had moves; and each has its share by
// weight.
func Rendezvous(members []Member, name string) *Member {
	return StickyRendezvous(members, []string{name}, []string{""})[0]
}
