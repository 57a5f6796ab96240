package web

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// ShowTime writes t as resources do: to the microsecond, without a fraction if that is zero.
func ShowTime(t carbonara.Timestamp) string {
	layout := "2006-01-02T15:04:05.000000+00:00"
	if t%carbonara.Timestamp(time.Second) < carbonara.Timestamp(time.Microsecond) {
		layout = "2006-01-02T15:04:05+00:00"
	}
	return t.Time().Format(layout)
}

func ShowTimeOrNull(t *carbonara.Timestamp) *string {
	if t == nil {
		return nil
	}
	return new(ShowTime(*t))
}

// OrNull returns a text that JSON shows as null if it is empty.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// OrEmpty returns a list that JSON does not show as null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
