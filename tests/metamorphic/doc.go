// Package metamorphic holds the store as a whole to its rules of meaning: for any batches, order, sacks, workers,
// checkpoints, restarts and crashes, the archives are those of a plain recomputation.
package metamorphic
