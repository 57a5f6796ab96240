package plaintext

import "github.com/gnocco-db/gnocco/carbonara"

// A Sink takes the elements that a decoder reads. It keeps no reference to heads and examples.
type Sink interface {
	AddHead(head []byte, at carbonara.Timestamp, value float64) // the head means the labels of a series
	Refuse(reason string, example []byte)
}
