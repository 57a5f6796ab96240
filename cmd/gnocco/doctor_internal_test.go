package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/diskprobe"
)

func TestDoctorDisk(t *testing.T) {
	var out bytes.Buffer
	if err := doctorDisk(t.Context(), &out, t.TempDir(), false, diskprobe.Options{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got := out.String(); strings.Count(got, "\n") != 8 || !strings.Contains(got, "exclusive link") {
		t.Errorf("it says\n%s", got)
	}
	if err := doctorDisk(t.Context(), &out, t.TempDir(), false,
		diskprobe.Options{TTL: time.Nanosecond}); !errors.Is(err, errUnfit) {
		t.Errorf("a disk slower than the lease: %v", err)
	}
}
