package main

import (
	"bytes"
	"os"
	"testing"
)

func TestCommittedFileIsWhatTheGeneratorWrites(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../carbonara/intcodec/pack_widths.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("carbonara/intcodec/pack_widths.go is out of date: run go generate ./carbonara/intcodec")
	}
}
