package aggregates

// SyntaxError says that an S-expression cannot be read.
type SyntaxError struct{ Reason string }

func (e *SyntaxError) Error() string { return "aggregates: " + e.Reason }

// InvalidError says what is wrong with an operation.
type InvalidError struct {
	Reason string // Gnocchi's words
	Detail string // which argument, and what it has to be; "" where Reason says it all
}

func (e *InvalidError) Error() string {
	if e.Detail == "" {
		return "aggregates: " + e.Reason
	}
	return "aggregates: " + e.Reason + ": " + e.Detail
}

// UnaggregableError says why an operation does not fit the series that it was given.
type UnaggregableError struct{ Reason string }

func (e *UnaggregableError) Error() string { return "aggregates: " + e.Reason }

// ErrNoMetric is what Parse returns for operations that read nothing.
var ErrNoMetric = &InvalidError{Reason: "At least one 'metric' is required"}
