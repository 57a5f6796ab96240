// Package gnocchiconf reads Gnocchi's configuration and says which of our settings it stands for.
//
// The files are oslo.config's: sections, options that may come more than once, values that name others ($debug,
// ${storage.file_basepath}). options.go is the table of the options that are known;
// docs/reference/gnocchi-conf.md shows it. An option without a meaning here is reported, never dropped in silence. If
// its loss would change who may do what, it is an error.
package gnocchiconf
