package series_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
)

// A time from which something is read lies in the past, unless it says otherwise: then that is told. A range may end in
// the future.
func TestBeginsInTheFuture(t *testing.T) {
	f := func(flag, text, fault, note string) {
		t.Helper()
		var value string
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		series.DefineTime(flags, &value, flag, "", "")
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr := os.Stderr
		os.Stderr = write
		err = flags.Parse([]string{"--" + flag, text})
		os.Stderr = stderr
		write.Close()
		told, _ := io.ReadAll(read)
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) ||
			(len(told) == 0) != (note == "") || !strings.Contains(string(told), note) {
			t.Errorf("--%s %s: %v, %q", flag, text, err, told)
		}
	}
	for _, flag := range []string{"start", "time"} {
		f(flag, "1h", "write -1h for the past, or +1h", "")
		f(flag, "90 minutes", "write -90 minutes for the past", "")
		f(flag, "+1h", "", "is in the future")
		f(flag, "2200", "", "2200-01-01T00:00:00Z is in the future")
		f(flag, "2200-01-01T10:00", "", "is in the future")
		f(flag, "-1h", "", "")
		f(flag, "now-1h", "", "")
		f(flag, "now", "", "")
		f(flag, "0", "", "")
		f(flag, "2026", "", "")
		f(flag, "yesterday", "", "")
		f(flag, "soon", "write 2026-11-30T08:20", "")
	}
	f("stop", "1h", "", "")
	f("stop", "2200", "", "")
}

// A span that ends before it begins, or where it begins, is a fault; times relative to now and dates compare.
func TestCheckSpan(t *testing.T) {
	f := func(start, stop string, ok bool) {
		t.Helper()
		err := series.CheckSpan(start, stop)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), stop) {
			t.Errorf("--start %q --stop %q: %v", start, stop, err)
		}
	}
	f("", "", true)
	f("-1d", "", true)
	f("", "-1d", true)
	f("-50s", "-10s", true)
	f("-10s", "-50s", false)
	f("-1h", "-1h", false)
	f("2026-01-02", "2026-01-01T23:59", false)
	f("2026-01-01", "now", true)
	f("-1d", "2026-01-01", false)
	f("0", "1", true)
}
