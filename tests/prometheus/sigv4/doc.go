// Package sigv4 stands for the module of that name, which signs remote writes to AWS: Prometheus' configuration, which
// its tsdb imports, names it. No test writes there, and 82 packages of AWS' client are not compiled.
package sigv4
