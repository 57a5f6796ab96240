// Package claimtest holds every claim.Coordinator to the same rules.
package claimtest
