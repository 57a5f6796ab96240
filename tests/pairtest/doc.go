// Package pairtest makes random schedules of replicas that scrape one counter: deaths, restarts, clocks that differ and
// step, jitter, pushes that come minutes late. Several packages test with them.
package pairtest
