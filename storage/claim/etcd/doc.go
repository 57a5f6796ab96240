// Package etcd is the claim.Coordinator that keeps members and claims in etcd. It notices a death sooner than the one by files, and
// is told of changes instead of looking for them; what fences a process that is late is the same, since an epoch means nothing to a
// file system by itself. Read package claim first.
//
// What lies below Options.Prefix, as JSON:
//
//	members/<id>     claim.Member, with the process's lease
//	claims/<name>    claim.Member, with the lease: it goes when its holder dies
//	last/<name>      who claimed it last, and, once it was given back, at what epoch and in what state (claim.Rest)
//	base             what is added to a revision of etcd's to make an epoch
//
// An epoch is the revision at which claims/<name> was put, plus base: so it is above all before. The first member takes as base the
// highest epoch that it finds on the disk; whoever joins an etcd that is behind the disk, because it was restored or replaced, raises
// it if there are no other members, and is refused otherwise.
//
// The process's own lease (claim.Deadline) ends before etcd's. A renewal needs both: that a file was written and synced in the data
// folder, and that etcd answered. So a process that is cut off from the disk alone gives up what it can't serve.
// Who takes over from a dead member waits for Options.Slack, unless the disk is local: etcd says that somebody is dead sooner than
// caches show what it wrote last.
package etcd
