package device_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m) }
