// Command metricd is `gnocco metricd` under the name that Gnocchi's operators know: it becomes the gnocco that lies
// beside it, or else in PATH, so that there is one program to build, configure and update.
package main
