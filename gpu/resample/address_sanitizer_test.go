//go:build !race

package resample_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
)

func TestResamplerAddressSanitizer(t *testing.T) {
	devicetest.RunUnderAddressSanitizer(t, "TestResampler(Golden|Sizes|RandomShapes)$|TestUnpack(Timestamps|Damaged)$")
}
