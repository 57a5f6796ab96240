//go:build !amd64

package tile

func setAVX512(bool) bool { return false }
