package correlate_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/gpu/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m) }
