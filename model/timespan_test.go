package model_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestParseTimespan(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		d, err := time.ParseDuration(want)
		fatal.If(t, err)
		if got, err := model.ParseTimespan(in); err != nil || got != d {
			t.Errorf("%q: got %v, %v; want %v", in, got, err, d)
		}
	}
	f("5", "5s")
	f(" 5 ", "5s")
	f("1e3", "1000s")
	f("2.3", "2.3s")
	f("1e-9", "1ns")
	f("1_0", "10s")
	f("9223372036.854775807", "9223372036854775807ns")
	f("1:30", "90s")
	f("01:02", "62s")
	f("99:99", "6039s")
	f("1:30.5", "90.5s")
	f("1:02:03", "3723s")
	f("1:02:03.5", "3723.5s")
	f("100:02:03", "100h2m3s")
	f("1:02:03:04", "93784s")
	f(":22", "22s")
	f(":22.5", "22.5s")
	f("365 days, 0:00:00", "8760h")
	f("1 day, 0:00:00", "24h")
	f("1.5 days 1:00:00", "37h")
	f("1w 3:04:05", "615845s")
	f("1.5 w1:02:03", "910923s")
	f("1h30m", "90m")
	f("2 days", "48h")
	f("1.5 hours", "90m")
	f("5m", "5m")
	f("5\tM\n", "5m")
	f("+5m", "5m")
	f("|5m", "5m")
	f("5m,", "5m")
	f("1d/2h", "26h")
	f("1w2d3h4m5s", "788645s")
	f("1 week, 2 days / 3 hours, 4 minutes , 5 seconds", "788645s")
	f("1wks 1dys 1hrs 1mins 1secs", "694861s")
	f("1 MIN", "1m")
	f(".5h", "30m")
	f("5.h", "5h")
	f("0.3 s", "300ms")
	f("1.001 s", "1001ms")
	f("1.7m 0.5s", "102.5s")
	f("15250 weeks", "2562000h")
	// Fractions of larger units are cut to seconds when the seconds are whole.
	f("1.005 minutes", "60s")
	f("1.005 minutes 0.0s", "60.3s")
	f("1.5h 30s", "5430s")
}

func TestParseTimespanErrors(t *testing.T) {
	f := func(want error, inputs ...string) {
		t.Helper()
		for _, in := range inputs {
			if got, err := model.ParseTimespan(in); err != want {
				t.Errorf("%q: got %v, %v; want %v", in, got, err, want)
			}
		}
	}
	f(model.ErrTimespanForm, "", "-", "+", "x", "5s,", "5m, ,", "1:2", "100:02", "1:2:3", ":2", "2d 1:00",
		"1.2.3 h", ".h", "1d 1w", "1 d 1 d", "1ms", "1 secon", "1 y", "1 month", "nan", "1:30.", "1 d, 3",
		"1 / 2", "--5m", "+-5m",
		"5 m 3:04:05", "1h 1:02:03",
		"1,5m", "1 m s", "1d//2h", "1 d , / 2h", "1:02:03:04:05", "1d 1:02:03:04", "::", "1::03", "µs", "5 µ")
	f(model.ErrTimespanNegative, "- 5 m", "-:22", "-5", "0", "0.0", "0:00", "0s", "1e-10", "0.01 minutes", "-1e-400")
	f(model.ErrTimespanTooLong, "inf", "-inf", "9223372037", "1e300", "15251 weeks", "15250 weeks 9d",
		"1000000000000000000000s", "0.5 weeks 99999999999s", "1.5h 9223372036854775807s")
	if !errors.Is(model.ErrTimespanForm, model.ErrInvalid) {
		t.Error("not ErrInvalid")
	}
}

func TestParseSignedTimespan(t *testing.T) {
	f := func(in string, want time.Duration) {
		t.Helper()
		if got, err := model.ParseSignedTimespan(in); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", in, got, err, want)
		}
	}
	f("-5", -5*time.Second)
	f("- 5 m", -5*time.Minute)
	f("-:22", -22*time.Second)
	f("0", 0)
	f("-1.5h 30.0s", -5430*time.Second)
	f("-1.5h 30s", -5370*time.Second) // Gnocchi's slip: the seconds lose the sign
}

func TestFormatTimespan(t *testing.T) {
	f := func(in time.Duration, want string) {
		t.Helper()
		if got := model.FormatTimespan(in); got != want {
			t.Errorf("%v: got %q, want %q", in, got, want)
		}
	}
	f(0, "0:00:00")
	f(time.Second, "0:00:01")
	f(time.Hour, "1:00:00")
	f(23*time.Hour+59*time.Minute+59*time.Second, "23:59:59")
	f(24*time.Hour, "1 day, 0:00:00")
	f(365*24*time.Hour, "365 days, 0:00:00")
	f(500*time.Millisecond, "0:00:00.500000")
	f(time.Microsecond, "0:00:00.000001")
	f(1, "0:00:00.000000001")
	f(500, "0:00:00.000000500")
	f(1500, "0:00:00.000001500")
	f(time.Minute-1, "0:00:59.999999999")
	f(math.MaxInt64, "106751 days, 23:47:16.854775807")
}

func FuzzParseTimespan(f *testing.F) {
	for _, s := range []string{"1 week, 2 days / 3 hours, 4 minutes , 5 seconds", "1:02:03:04.5", "-1.5h 30s",
		"|5m", ":22", "1e-9", "2d, 1:00:00", "9223372036.854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := model.ParseSignedTimespan(s)
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) {
				t.Fatalf("%q: %v is no ErrInvalid", s, err)
			}
			return
		}
		positive, err := model.ParseTimespan(s)
		if (d > 0) != (err == nil) || err == nil && positive != d {
			t.Fatalf("%q: signed %v, unsigned %v, %v", s, d, positive, err)
		}
		if d <= 0 {
			return
		}
		text := model.FormatTimespan(d)
		again, err := model.ParseSignedTimespan(text)
		if err != nil || again != d {
			t.Fatalf("%q: %v, formatted %q, which is %v, %v", s, d, text, again, err)
		}
	})
}
