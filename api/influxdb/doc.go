// Package influxdb serves InfluxDB's clients: measures in line protocol, and one query, "create database". Handlers
// read a body, decode it by package lineprotocol, and hand the fields to package ingest, which finds or creates their
// metrics.
package influxdb
