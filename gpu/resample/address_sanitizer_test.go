//go:build !race

package resample_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/gpu/device/devicetest"
)

func TestResamplerAddressSanitizer(t *testing.T) {
	devicetest.RunUnderAddressSanitizer(t, "TestResampler(Golden|Sizes|RandomShapes)$|TestUnpack(Timestamps|Damaged)$")
}
