package model

// Metadata describes the pushed series of a name. Kind is a type in Prometheus' words.
type Metadata struct{ Name, Kind, Help, Unit string }
