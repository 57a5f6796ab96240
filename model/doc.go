// Package model holds the nouns of the REST API and their rules: archive policies and the rules that choose one,
// metrics, resources, measures as they are sent, and the kinds of errors.
//
// It does no I/O. It stands on carbonara, which knows what aggregates mean, and below storage, which keeps these nouns,
// and api, which shows them. Read archive_policy.go first: from a policy follows all that is computed for a metric.
//
// Values from package storage/index are shared between goroutines: an *ArchivePolicy or *Metric is never modified once
// made; a change makes a new one.
package model
