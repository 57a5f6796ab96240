// Package simd reports which vector instructions the processor has.
package simd
