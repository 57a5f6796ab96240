package model

import "time"

// Backup is what the cluster keeps of a backup that has ended.
type Backup struct {
	Begun       time.Time `json:"begun_at"`
	Ended       time.Time `json:"ended_at"`
	User        string    `json:"user"` // of the operating system, and the machine
	To          string    `json:"to"`   // as it was given
	Files       int       `json:"files"`
	Bytes       int64     `json:"bytes"`
	Written     int64     `json:"new_bytes"` // of them what the repository did not have
	Incremental bool      `json:"incremental"`
	Follows     bool      `json:"follows,omitempty"` // the last of many (gnocco backup --every), with a later one's error
	Error       string    `json:"error"`             // why there is none; "" if there is
}
