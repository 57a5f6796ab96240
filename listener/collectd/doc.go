// Package collectd decodes datagrams of collectd's network plugin, protocol 5: plain, signed (HMAC-SHA-256) or
// encrypted (AES-256-OFB). A datagram is parts, each with a type and a length: the host, plugin, type, their instances
// and the time hold for the values behind them.
//
// A value becomes a measure of the series "collectd_PLUGIN_TYPE" with the labels host, plugin, plugin_instance, type
// and type_instance. Values of a counter or derive have the suffix _total. Of a type with several values, the datagram
// has no names: the label value is that of types.db, or a number from 0.
package collectd
