package fatal

import "testing"

// If ends the test if there is an error. Without one it costs a benchmark nothing.
func If(t testing.TB, errs ...error) {
	for _, err := range errs {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
}
