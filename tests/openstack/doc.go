// Package openstack holds tests in which OpenStack's telemetry asks a server the questions for Gnocchi and Prometheus:
// Ceilometer's upgrade and publisher, Aodh's evaluators, and CloudKitty's collectors and fetchers, by the programs that
// Debian has of them.
package openstack
