package keyhash

import "hash/maphash"

// Hash stands for a key, within one process. Its seeds are known to this process only, so that nobody can make two keys
// of the same hash; by chance two of a million keys have one with a probability of 10^-26.
type Hash [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// Of returns the hash of a key.
func Of(key []byte) Hash { return Hash{maphash.Bytes(seeds[0], key), maphash.Bytes(seeds[1], key)} }
