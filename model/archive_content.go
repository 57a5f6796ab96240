package model

import "github.com/google/uuid"

// ContentRequest asks for a part of the content of a metric's archive, or puts one into it.
type ContentRequest struct {
	Metric uuid.UUID `json:"metric"`
	Token  []byte    `json:"token,omitempty"` // of the part before; nil: the first part
	Put    []byte    `json:"put,omitempty"`   // nil: a part is asked for
}

// Content is the answer.
type Content struct {
	Part    []byte `json:"part,omitempty"`
	Changed bool   `json:"changed,omitempty"` // measures came after the part before: begin again
	Next    []byte `json:"next,omitempty"`    // token of the next part; nil: this was the last one
	Written int    `json:"written,omitempty"` // values of the part that was put, without those that were there
}
