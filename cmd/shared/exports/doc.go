// Package exports has the flags and help of gnocco export. Two programs have them: gnocco, which users call, and
// gnocco-import, a module of its own, which gnocco runs.
package exports
