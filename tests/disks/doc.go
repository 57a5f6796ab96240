// Package disks runs a cluster on three nodes that share a real file system, under faults of nodes, network and
// storage.
//
// Each node is a network namespace with a mount of its own. Writers keep a ledger of acknowledged requests, and a run
// compares it with all that the cluster answers at the end. Without -disks each test skips:
//
//	sudo go test ./tests/disks -v -args -disks ceph,gluster,local -disks.scenarios crash
//
// Debian's packages are ceph, ceph-fuse, ceph-mds; glusterfs-server, glusterfs-client, xfsprogs. A file system without
// its programs skips.
//
// The test starts itself again in namespaces of process numbers, mounts and networks. When it ends, the kernel ends its
// daemons and removes its mounts.
package disks
