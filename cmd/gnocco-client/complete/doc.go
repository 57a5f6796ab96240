// Package complete proposes words to shells: names of metrics, archive policies and methods that a server has.
package complete
