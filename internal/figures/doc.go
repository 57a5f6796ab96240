// Package figures registers what parts of a process count for Prometheus.
package figures
