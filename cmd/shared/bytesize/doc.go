// Package bytesize holds the value of flags that are a number of bytes, like 64MiB.
package bytesize
