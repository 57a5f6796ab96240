// Package etcd is the claim.Coordinator that keeps members and claims in etcd. It notices a death sooner than the one
// by files, and is told of changes instead of looking for them. Both fence a late process in the same way, since an
// epoch means nothing to a file system by itself. Read package claim first.
//
// etcd holds below Options.Prefix, as JSON:
//
//	members/<id>     claim.Member, with the process's lease
//	claims/<name>    claim.Member, with the lease: it goes when its holder dies
//	last/<name>      who claimed it last, and, once given back, at what epoch and in what state (claim.ClosedState)
//	base             what is added to a revision of etcd's to make an epoch
//
// An epoch is the revision at which claims/<name> was put, plus base: so it is above all before. The first member takes
// as base the highest epoch that it finds on the disk. An etcd that was restored or replaced may be behind the disk: a
// member that joins it raises base if there are no other members, and is refused otherwise.
//
// The process's own lease (claim.Deadline) is over before etcd's. It is suspended then and not lost (resume.go): the
// process acknowledges and answers nothing, and goes on if nobody has claimed meanwhile what it holds. A renewal needs
// both: that a file was written and synced in the data folder, and that etcd answered. So a process that is cut off
// from the disk alone gives up what it can't serve. A member that takes over from a dead one waits for Options.Slack,
// unless the disk is local: etcd reports a death sooner than caches show what the dead member wrote last.
package etcd
