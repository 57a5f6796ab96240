package device_test

import (
	"testing"

	"gnocco/gpu/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m) }
