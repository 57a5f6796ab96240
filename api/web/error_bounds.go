package web

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gnocco-db/gnocco/api/text"
)

// An error names the faults of a request, perhaps every entry of a large body. Its size is bounded for every body: it
// lists thousands of entries at most. A client creates the listed metrics and sends the body again.
const (
	maxErrorText  = 16 << 10 // bytes of each text
	maxErrorBytes = 1 << 20  // of a list, in JSON
)

// Bounded returns a description that is within the bounds. It counts the entries that it leaves out.
func Bounded(detail any) any {
	switch d := detail.(type) {
	case nil:
		return nil
	case string:
		return cutText(d)
	case Cause:
		d.Cause, d.Reason = cutText(d.Cause), cutText(d.Reason)
		d.Element = cutTexts(d.Element)
		shown := Bounded(d.Detail)
		if all, some := listLength(d.Detail), listLength(shown); some < all {
			d.Reason = strings.TrimSpace(fmt.Sprintf("%s (the first %d of %d)", d.Reason, some, all))
		}
		d.Detail = shown
		return d
	case []string:
		detail = cutTexts(d)
	}
	written := 0
	for i := range listLength(detail) { // item by item: all together might take many times the body's memory
		list := reflect.ValueOf(detail)
		if written += len(text.AppendJSON(nil, list.Index(i).Interface())); written > maxErrorBytes {
			return list.Slice(0, i).Interface()
		}
	}
	if listLength(detail) == 0 {
		if all := text.AppendJSON(nil, detail); len(all) > maxErrorBytes {
			return cutText(string(all))
		}
	}
	return detail
}

// listLength returns how long a list is, 0 for anything else.
func listLength(detail any) int {
	if list := reflect.ValueOf(detail); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 0
}

func cutTexts(texts []string) []string {
	shown := make([]string, len(texts))
	for i, one := range texts {
		shown[i] = cutText(one)
	}
	return shown
}

// cutText cuts a long text after a whole character.
func cutText(long string) string {
	if len(long) <= maxErrorText {
		return long
	}
	begin := strings.ToValidUTF8(long[:maxErrorText], "")
	return fmt.Sprintf("%s… (%d B more)", begin, len(long)-len(begin))
}

// JoinSome joins the first of n texts, as many as an error shows.
func JoinSome(n int, at func(i int) string) string {
	var joined strings.Builder
	for i := range n {
		if joined.Len() > maxErrorText-100 {
			fmt.Fprintf(&joined, " and %d more", n-i)
			break
		}
		if i > 0 {
			joined.WriteString(", ")
		}
		joined.WriteString(at(i))
	}
	return joined.String()
}
