// Package plaintext has what all protocols of text share: line protocol, Graphite's lines, statsd's messages, the
// exposition format, JSON lines, collectd's JSON, OTLP as JSON. TestDoors of package api tries these laws at each of
// them:
//
//  1. A line that was not finished is refused: a stream's without its end, a text without its closing quote, a list
//     without its bracket. A datagram and a body of HTTP end their last line.
//  2. An odd element costs only itself, and the answer names it, or a counter where there is no answer.
//  3. Blanks and line ends around names, values and lines are nothing: spaces, tabs, line feeds, carriage returns. So
//     is a byte order mark before all.
//  4. A number out of its type's range is refused. It never becomes another one.
//  5. A label that stands twice in a series refuses the series. Two spellings of a number in a label are two texts.
//  6. Of two values that a request has for one series and time one is stored, and the answer names the other, unless
//     both are equal.
package plaintext
