// Package compensated adds float64 without losing what each addition rounds away, in the same bits on every machine.
package compensated
