// Package losstest holds every way in, a protocol or a kind of file, to the law that nothing is lost silently: each
// element of a random body is stored, or equal to one that is stored, or counted in the answer.
package losstest
