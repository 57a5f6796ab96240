package model_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/model"
)

// The answers are those of Python's fnmatchcase.
func TestMatchPattern(t *testing.T) {
	names := []string{"", "a", "abc", "ax", "bx", "dx", "x", "[", "]", "[a", "a[", "disk.io.rate",
		"disk.size", "aXbXc", "abcabc", "é", "éa", "aé", "üx", "-", "!", "e", "*", "?", "\\", "\\a",
		"[]", "]a", "[]]", "b"}
	f := func(pattern string, want ...string) {
		t.Helper()
		var got []string
		for _, name := range names {
			if model.MatchPattern(pattern, name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %q, want %q", pattern, got, want)
		}
	}
	f("*", names...)
	f("**", names...)
	f("*?", names[1:]...)
	f("", "")
	f("?", "a", "x", "[", "]", "é", "-", "!", "e", "*", "?", "\\", "b")
	f("a*", "a", "abc", "ax", "a[", "aXbXc", "abcabc", "aé")
	f("*a", "a", "[a", "éa", "\\a", "]a")
	f("a?c", "abc")
	f("[abc]x", "ax", "bx")
	f("[!abc]x", "dx", "üx")
	f("[a-c]x", "ax", "bx")
	f("[", "[")
	f("[]", "[]")
	f("[]]", "]")
	f("[]a]", "a", "]")
	f("[!]a]", "x", "[", "é", "-", "!", "e", "*", "?", "\\", "b")
	f("[a", "[a")
	f("a[", "a[")
	f("*.io.*", "disk.io.rate")
	f("disk.*", "disk.io.rate", "disk.size")
	f("a*b*c", "abc", "aXbXc", "abcabc")
	f("[a-]", "a", "-")
	f("[-a]", "a", "-")
	f("[!a-c-e]", "x", "[", "]", "é", "!", "*", "?", "\\")
	f("é?", "éa")
	f("?é", "aé")
	f("[é-ü]x", "üx")
	f("[c-a]x")
	f("[!c-a]x", "ax", "bx", "dx", "üx")
	f("[!]")
	f("[!")
	f("[a-c")
	f("\\*", "\\", "\\a")
	f("[*]", "*")
	f("[?]", "?")
}

// A pattern without special characters matches itself only, and "*" around a name's parts matches the name.
func FuzzMatchPattern(f *testing.F) {
	f.Add("disk.*", "disk.io")
	f.Add("[!a-", "x[é")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := model.MatchPattern(pattern, name)
		if !strings.ContainsAny(pattern, "*?[") && got != (pattern == name) {
			t.Fatalf("MatchPattern(%q, %q) = %v", pattern, name, got)
		}
		// Cubic in the length of the name from here on.
		if len(name) > 200 || strings.ContainsAny(name, "*?[") || !utf8.ValidString(name) {
			return
		}
		for i := range name {
			if !model.MatchPattern(name[:i]+"*"+name[i:], name) || !model.MatchPattern("*"+name[i:], name) {
				t.Fatalf("a star at %d does not match %q", i, name)
			}
		}
	})
}
