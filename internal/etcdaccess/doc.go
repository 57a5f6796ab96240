// Package etcdaccess reads how a process gets into etcd, and says in plain words why it does not.
package etcdaccess
