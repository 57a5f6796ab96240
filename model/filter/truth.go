package filter

// truth is what a condition is: SQL knows a third, where a value that it asks about is null.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}
