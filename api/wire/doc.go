// Package wire reads messages of protobuf field by field, for senders' protocols (api/otlp, api/prometheus). It adds
// to protowire what their decoders share: a loop over fields, short texts at once, and repeated numbers, packed or not.
package wire
