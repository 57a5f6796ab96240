package devicetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// folder holds the libraries that tests of this process build.
var folder string

var allKernels = flag.Bool("kernels.all", false, "all sizes also of kernels that are compiled for the host, and their "+
	"address sanitizer")

// Main runs a package's tests and removes what they built. TestMain calls it. On the host a kernel takes a hundred
// times as long as on a device: tests have the sizes of -short there, unless -kernels.all is given, as by make kernels.
func Main(m *testing.M) {
	flag.Parse()
	if os.Getenv("GNOCCO_TEST_DEVICE") == "" && !*allKernels {
		flag.Set("test.short", "true")
	}
	var err error
	if folder, err = os.MkdirTemp("", "gpu"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// Gather returns the values of counters and gauges without further labels.
func Gather(t testing.TB, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, family := range families {
		metric := family.GetMetric()[0]
		values[family.GetName()] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
	}
	return values
}

// Open returns a device that is closed with the test, which fails if the device was given up for wrong results: the CPU
// has gone on then.
func Open(t testing.TB, options device.Options) *device.Device {
	t.Helper()
	if options.JobTimeout == 0 {
		options.JobTimeout = time.Minute // kernels on the host are slow
	}
	dev, err := device.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Err(); errors.Is(err, device.ErrInvariant) {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// Folder returns the folder for libraries that tests of this process build once.
func Folder() string { return folder }

// OnDevice skips unless there is a real device, and returns what it is.
func OnDevice(t testing.TB) device.Properties {
	t.Helper()
	all, err := device.Find("")
	if errors.Is(err, device.ErrUnavailable) {
		t.Skip("no CUDA device here")
	} else if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(all[0].Name, "Fake") {
		t.Skip("this process has the fake driver")
	}
	return all[0]
}
