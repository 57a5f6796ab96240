package model_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// now is the present of these tests.
var now = carbonara.FromTime(time.Date(2026, 11, 21, 4, 13, 33, 921329000, time.UTC))

func TestParseTimestamp(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := model.ParseTimestamp(in, now)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if s := got.Time().Format(time.RFC3339Nano); s != want {
			t.Errorf("%q: got %s, want %s", in, s, want)
		}
	}
	// ISO.
	f("2014-10-06T14:33:57", "2014-10-06T14:33:57Z")
	f("2014-10-06 14:33:57", "2014-10-06T14:33:57Z")
	f("2014-10-06T14:33:57Z", "2014-10-06T14:33:57Z")
	f("2014-10-06T14:33:57Z ", "2014-10-06T14:33:57Z")
	f(" 2014-10-06T14:33:57 ", "2014-10-06T14:33:57Z")
	f("+2014-10-06T14:33:57", "2014-10-06T14:33:57Z")
	f("02014-10-06", "2014-10-06T00:00:00Z")
	f("2014-10-06T14:33:57+02:00", "2014-10-06T12:33:57Z")
	f("2014-10-06T14:33:57+0200", "2014-10-06T12:33:57Z")
	f("2014-10-06T14:33:57+02", "2014-10-06T12:33:57Z")
	f("2014-10-06T14:33:57-02:30", "2014-10-06T17:03:57Z")
	f("2014-10-06T14:33:57+23:59", "2014-10-05T14:34:57Z")
	f("2014-10-06T14:33:57.5+01:00", "2014-10-06T13:33:57.5Z")
	f("2014-10-06T14:33", "2014-10-06T14:33:00Z")
	f("2014-10-06T14:33Z", "2014-10-06T14:33:00Z")
	f("2014-10-06T14", "2014-10-06T14:00:00Z")
	f("2014-10-06", "2014-10-06T00:00:00Z")
	f("2016-02-29", "2016-02-29T00:00:00Z")
	f("2014-10", "2014-10-01T00:00:00Z")
	f("2014-10-06T14:33:57.", "2014-10-06T14:33:57Z")
	f("2014-10-06T14:33:57.1", "2014-10-06T14:33:57.1Z")
	f("2014-10-06T14:33:57.123456789", "2014-10-06T14:33:57.123456789Z")
	f("2014-10-06T14:33:57.123456789123456789", "2014-10-06T14:33:57.123456789Z")
	f("1970-01-01", "1970-01-01T00:00:00Z")
	f("1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00Z")
	f("1969-12-31T23:59:59-01:00", "1970-01-01T00:59:59Z")
	f("2262-04-11T23:47:16.854775807", "2262-04-11T23:47:16.854775807Z")
	f("now", "2026-11-21T04:13:33Z")
	f("NOW", "2026-11-21T04:13:33Z")
	f("Today", "2026-11-21T00:00:00Z")
	// Numbers.
	f("1412609637", "2014-10-06T15:33:57Z")
	f("1412609637.5", "2014-10-06T15:33:57.5Z")
	f("1412609637.123456789", "2014-10-06T15:33:57.123456789Z")
	f("1412609637.1234567899", "2014-10-06T15:33:57.123456789Z")
	f(" 12 ", "1970-01-01T00:00:12Z")
	f("+10", "1970-01-01T00:00:10Z")
	f("1e9", "2001-09-09T01:46:40Z")
	f("1.5E-3", "1970-01-01T00:00:00.0015Z")
	f("1_000", "1970-01-01T00:16:40Z")
	f("5.", "1970-01-01T00:00:05Z")
	f(".5", "1970-01-01T00:00:00.5Z")
	f("-0.0", "1970-01-01T00:00:00Z")
	f("-1e-12", "1970-01-01T00:00:00Z")
	f("1e-400", "1970-01-01T00:00:00Z")
	f("2014", "1970-01-01T00:33:34Z")
	f("9223372036.854775807", "2262-04-11T23:47:16.854775807Z")
	// Relative.
	f("-1 hour", "2026-11-21T03:13:33.921329Z")
	f("5 minutes", "2026-11-21T04:18:33.921329Z")
	f("-1:30", "2026-11-21T04:12:03.921329Z")
}

func TestParseTimestampErrors(t *testing.T) {
	f := func(want error, inputs ...string) {
		t.Helper()
		for _, in := range inputs {
			if got, err := model.ParseTimestamp(in, now); err != want {
				t.Errorf("%q: got %v, %v; want %v", in, got, err, want)
			}
		}
	}
	f(model.ErrTimestampForm, "", " ", "x", "nat", "nan", "1 foo", "0x10", "2014-10-06T14:33:57 +02:00",
		"2014-10-06T14:33:57 Z", "2014-10-06T14:33:57z", "2014-10-06t14:33:57", "2014-10-06Z",
		"2014-10-06+02:00", "20141006T143357",
		"2014-10-06T143357",
		"2014-1-1", "2014-10-06T4:33:57", "2014-10-06T14:33:57.1234567891234567891",
		"2014-10-06T14:33:57,5", "2014-02-30",
		"2015-02-29", "2014-10-06T24:00:00", "2014-10-06T23:59:60", "2014-13-01", "2014-00-01",
		"2014-01-00", "2014-10-06T",
		"2014-10-06 ", "2014-", "2014-10-", "2014-10-06T14:", "2014-10-06T14:33:", "2014-W01", "2014-280",
		"2014-10-06T14:33:57+25:00", "2014-10-06T14:33:57+02:60", "2014-10-06T14:33:57+02:00:00",
		"2014-10-06T14:33:57Zx",
		"2014-10-06_14:33:57", "2014/10/06", "2014-10-06T14:33:57é", "2014,10-06T14:33:57",
		"2014-10-06T14;33:57", "1000000 weeks")
	f(model.ErrTimestampBeforeEpoch, "-10", "-1e-9", "-.5", "-inf", "-1e400",
		"1969-12-31T23:59:59.999999999", "0001-01-01", "1970-01-01T00:00:00+01:00", "-2014-01-01", "1677-01-01",
		"14-10-06", "-3000 weeks")
	f(model.ErrTimestampTooLate, "9223372036.854775808", "1e10", "1e400", "inf",
		"2262-04-11T23:47:16.854775808", "2262-04-12", "10000-01-01", "99999999999999999999999999-01-01", "15000 weeks")
	if !errors.Is(model.ErrTimestampForm, model.ErrInvalid) {
		t.Error("not ErrInvalid")
	}
}

// A list of measures is read in the form of its first timestamp.
func TestTimestampForm(t *testing.T) {
	f := func(in string, want model.TimestampForm) {
		t.Helper()
		if got := model.TimestampFormOf(in); got != want {
			t.Errorf("%q: form %d, want %d", in, got, want)
		}
	}
	f("2014", model.TimestampNumber)
	f("nan", model.TimestampNumber)
	f("2014-10", model.TimestampISO)
	f("1969-10", model.TimestampISO)
	f("now", model.TimestampISO)
	f("-1 hour", model.TimestampRelative)
	f("x", model.TimestampRelative)

	if got, err := model.TimestampISO.Parse("2014", now); err != nil || got.Time().Year() != 2014 {
		t.Errorf("2014 is a year among ISO timestamps; got %v, %v", got, err)
	}
	if got, err := model.TimestampRelative.Parse("10", now); err != nil || got != now.Add(10*time.Second) {
		t.Errorf("10 is relative among relative timestamps; got %v, %v", got, err)
	}
	if _, err := model.TimestampNumber.Parse("2014-10-06", now); err != model.ErrTimestampForm {
		t.Errorf("got %v", err)
	}
}

// eachDay calls f with instants of every day that can be represented.
func eachDay(f func(carbonara.Timestamp)) {
	r := rand.New(rand.NewPCG(1, 2))
	const day = carbonara.Timestamp(24 * time.Hour)
	for t := carbonara.Timestamp(0); ; t += day {
		f(t)
		if t > carbonara.MaxTimestamp-day {
			break
		}
		f(t + day - 1)
		f(t + carbonara.Timestamp(r.Int64N(int64(day))))
	}
	f(carbonara.MaxTimestamp)
}

func TestAppendTimestamp(t *testing.T) {
	var got, want []byte
	rewritten := model.AppendTimestamp(nil, 86400e9)
	text := model.NewTimestampText(rewritten, 86400e9)
	eachDay(func(ts carbonara.Timestamp) {
		got = model.AppendTimestamp(got[:0], ts/1e9*1e9)
		if text.Set(ts); string(rewritten) != string(got) {
			t.Fatalf("%d: rewritten to %s, want %s", ts, rewritten, got)
		}
		got = model.AppendTimestamp(got[:0], ts)
		layout := "2006-01-02T15:04:05.000000000+00:00"
		switch {
		case ts%1e9 == 0:
			layout = "2006-01-02T15:04:05+00:00"
		case ts%1000 == 0:
			layout = "2006-01-02T15:04:05.000000+00:00"
		}
		want = ts.Time().AppendFormat(want[:0], layout)
		if string(got) != string(want) {
			t.Fatalf("%d: got %s, want %s", ts, got, want)
		}
	})
	f := func(ts carbonara.Timestamp, want string) {
		t.Helper()
		if s := string(model.AppendTimestamp([]byte("x"), ts)); s != "x"+want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
	f(0, "1970-01-01T00:00:00+00:00")
	f(1, "1970-01-01T00:00:00.000000001+00:00")
	f(500e6, "1970-01-01T00:00:00.500000+00:00")
}

func TestParseISO(t *testing.T) {
	fractions := 0
	eachDay(func(ts carbonara.Timestamp) {
		text := ts.Time().Format("2006-01-02T15:04:05.999999999")
		got, ok := model.ParseISO(text)
		if second := carbonara.MaxTimestamp.Floor(time.Second); ts >= second {
			if ok {
				t.Fatalf("%s: the last second is left to the general parser", text)
			}
			got, ok = ts, true
		}
		if !ok || got != ts {
			t.Fatalf("%s: got %v, %t", text, got.Time(), ok)
		}
		if len(text) > 19 {
			fractions++
		}
	})
	if fractions == 0 {
		t.Error("no fraction was tried")
	}
	// The two parsers agree for any replacement of a byte.
	shape := []byte("2016-02-29T15:04:05.25+01:30")
	for at := range shape {
		for c := range 256 {
			text := append([]byte(nil), shape...)
			text[at] = byte(c)
			agree(t, string(text))
		}
	}
}

// agree checks that ParseISO gives nothing that the general parser does not; a space in front keeps that one from
// using ParseISO.
func agree(t *testing.T, s string) {
	t.Helper()
	fast, ok := model.ParseISO(s)
	if !ok {
		return
	}
	if general, err := model.TimestampISO.Parse(" "+s, now); err != nil || general != fast {
		t.Fatalf("%q: ParseISO %d, general %d, %v", s, fast, general, err)
	}
}

func FuzzParseTimestamp(f *testing.F) {
	for _, s := range []string{"2014-10-06T14:33:57.123+02:00", "2014-10-06 14:33:57Z", "1412609637.5",
		"-1 hour", "now", "1e9", "2262-04-11T23:47:16.854775807", "-1e-12", "2014-10", " +2014-10-06T14 ", "1_0.5e-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := model.ParseTimestamp(s, now)
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) {
				t.Fatalf("%q: %v is no ErrInvalid", s, err)
			}
			return
		}
		if !got.Valid() {
			t.Fatalf("%q: %d", s, got)
		}
		agree(t, s)
		text := got.Time().Format(time.RFC3339Nano)
		if again, err := model.ParseTimestamp(text, now); err != nil || again != got {
			t.Fatalf("%q: %d; as %s %d, %v", s, got, text, again, err)
		}
	})
}

func BenchmarkTimestamp(b *testing.B) {
	const text, want = "2014-10-06T14:33:57", carbonara.Timestamp(1412606037_000000000)
	b.Run("op=ParseISO", func(b *testing.B) {
		b.ReportAllocs()
		var got carbonara.Timestamp
		for b.Loop() {
			got, _ = model.ParseISO(text)
		}
		if got != want {
			b.Fatal(got)
		}
	})
	b.Run("op=ParseISO/fraction+offset", func(b *testing.B) {
		b.ReportAllocs()
		var got carbonara.Timestamp
		for b.Loop() {
			got, _ = model.ParseISO("2014-10-06T16:33:57.000000+02:00")
		}
		if got != want {
			b.Fatal(got)
		}
	})
	b.Run("op=time.Parse", func(b *testing.B) {
		b.ReportAllocs()
		var got time.Time
		for b.Loop() {
			got, _ = time.Parse("2006-01-02T15:04:05", text)
		}
		if carbonara.FromTime(got) != want {
			b.Fatal(got)
		}
	})
	dst := make([]byte, 0, 64)
	b.Run("op=AppendTimestamp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = model.AppendTimestamp(dst[:0], want)
		}
		if string(dst) != text+"+00:00" {
			b.Fatal(string(dst))
		}
	})
	b.Run("op=time.AppendFormat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = want.Time().AppendFormat(dst[:0], "2006-01-02T15:04:05+00:00")
		}
		if string(dst) != text+"+00:00" {
			b.Fatal(string(dst))
		}
	})
}
