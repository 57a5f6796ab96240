package filter

import "testing"

// The texts that PostgreSQL reads as a bool, and some that it does not.
func TestParseBool(t *testing.T) {
	f := func(text string, value, ok bool) {
		t.Helper()
		if v, o := parseBool(text); v != value || o != ok {
			t.Errorf("%q: %v %v, want %v %v", text, v, o, value, ok)
		}
	}
	for _, text := range []string{"true", "TRUE", "t", "tru", "yes", "Y", "ye", "on", "1", " on\n"} {
		f(text, true, true)
	}
	for _, text := range []string{"false", "F", "fal", "no", "N", "off", "of", "0", " off "} {
		f(text, false, true)
	}
	for _, text := range []string{"", " ", "o", "truer", "yess", "nope", "offf", "01", "2", "none"} {
		f(text, false, false)
	}
}
