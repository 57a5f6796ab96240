// Package imports has the commands of gnocco import: their flags and help. Two programs have them:
// gnocco, which users call, and gnocco-import, a module of its own, which gnocco runs.
package imports
