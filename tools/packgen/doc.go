// Command packgen writes carbonara/intcodec/pack_widths.go: a function for each bit width that unpacks one lane of a
// mini-vector, with constant shifts and no bounds checks. Run it by go generate.
package main
