// Package metamorphic holds the store as a whole to its rules of meaning: whatever the batches, order, sacks, workers,
// checkpoints, restarts and crashes, the archives are those that a plain recomputation gives.
package metamorphic
