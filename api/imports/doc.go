// Package imports stores text that carries whole series: VictoriaMetrics' JSON lines, and Prometheus' exposition format
// as files and the Pushgateway's clients send it. Each line stands for itself: the answer names the refused ones, and
// the others are stored. Read handlers.go first.
package imports
