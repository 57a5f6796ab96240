//go:build !race

package correlate_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
)

func TestCorrelatorAddressSanitizer(t *testing.T) {
	devicetest.RunUnderAddressSanitizer(t,
		"TestCorrelator$/sm_90/(selections|context)$|TestCorrelatorSizes$/sm_70$/columns=257")
}
