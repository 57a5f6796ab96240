// Package intcodec packs up to 1,024 integers into a stream of bytes, and unpacks them bit for bit. It knows nothing of
// series: splits and raw series (package carbonara) turn their timestamps and values into integers, and this package
// makes those small.
//
// [Encoder.AppendStream] chooses by a sample whether the integers, their differences or the differences of these pack
// best, and which of two forms the numbers take: one width for each 128 of them, with patches for outliers (stream.go,
// bitpack.go), or up to four width classes (width_classes.go). [Decode] is the inverse; [Skip] passes over a stream.
// docs/format/split.md draws the bytes.
//
// Read stream.go first. The loops over numbers exist twice, with equal results: in plain Go (simd_generic.go) and with
// AVX-512 (simd_amd64.s). pack_widths.go is generated: a function for each width, as one loop for all widths takes 2.4
// to 5 times as long.
package intcodec
