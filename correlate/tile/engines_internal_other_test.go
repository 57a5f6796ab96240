//go:build !amd64

package tile

var hasAVX2, hasAVX512 bool

func setAVX512(bool) bool { return false }
