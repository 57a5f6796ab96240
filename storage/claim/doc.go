// Package claim decides which process holds which store of a shared data folder, and keeps former holders from doing
// harm. It stands beside both paths, of measures in and of aggregates out: a process claims a store before it opens it,
// and opens it on a file system that asks the lease.
//
// A store is protected by three things, none of which is enough alone:
//
//   - a lease for the whole process (Deadline): after it a process acknowledges nothing and answers nothing;
//   - a claim with a number, the epoch, which only one can get (Claim);
//   - a folder for each epoch (TakeOver): late writes of a former holder land where nobody reads.
//
// A Coordinator knows the members and their claims. File, the one in this package, needs only the shared folder;
// package claim/etcd keeps both in etcd. Read coordinator.go first, then lease.go, file_coordinator.go (heartbeat.go,
// failure_detector.go, superseded.go, epochs.go, release.go) and takeover.go.
//
// docs/format/claims.md draws what the data folder holds.
//
// Claims are a tree of their own, so that their numbers go on when a store is removed. A folder that no claim leads to,
// such as e1 of a restored backup, gets a claim of its number by nobody first; so its store is taken over as e2, and
// coordinators can be changed while no process runs.
//
// Rules, each of which is needed (TestPlanted of tests/simulation breaks them one at a time and finds what goes wrong):
//
//   - A renewal of the lease counts from the moment before it was begun, and only if it returned before the old
//     deadline. A lost lease stays lost. The clock goes on while the machine is suspended.
//   - Heartbeats and claims are names that are listed, never contents that change in place: ceph-fuse shows some of
//     those permanently as they were. On a local disk the heartbeat is where a lock begins, which is in the kernel's
//     memory: all members see it at once, it ends with its process, and it waits for no journal, as renames do. A
//     member raises it from before its folder gets its name, so the counter never stands still while others see it.
//   - A member is dead when its counter stood still for TTL + Slack on the observer's own clock, from the end of one
//     listing to the beginning of another; at once when its process ended on the observer's own machine, or when the
//     folder is on a local disk and the lock of its file is gone. Dead is permanent. Slack is for changes that caches
//     of the file system hide. A listing that hangs says nothing but what it ends with: the counter is the member's
//     own time, so a new one was raised no later after the one before than it is higher.
//   - A member that answers Options.Ask with a newer counter lives, and its heartbeats are not listed. If the disk goes
//     on hiding names of which it says that they are there, the lease ends (ErrStaleNames).
//   - A member looks for higher claims on what it holds, before a renewal counts; on sacks beside it, on a network disk
//     on one sack a beat, and on a local disk on all, as nobody sees an old lock there. A higher claim ends the lease.
//     A look that hangs says nothing, is not waited for longer than half a beat, and not begun a second time.
//   - On a network disk the members' folder is listed once a beat: members that join or leave say so themselves.
//   - The lease is asked before each change of a file and again after each sync. Reads are answered if it holds after
//     them.
//   - Of several claims the highest counts. A member that needed longer than TTL from looking to linking gives it back.
//   - A folder belongs to one epoch, also when the process starts again. It is complete when it has its final name.
//   - Old claims and old folders go when the new store has been open for Options.Grace: another machine may not see the
//     new one yet, and would find none. On a local disk folders go as soon as the new store is open. A process that
//     looked before is then told that the store changed (ErrUnstable), looks again, and finds itself too late
//     (ErrSuperseded). On a network disk no file of a claim goes for five minutes after a member was silent: its dead
//     client may keep all from changing and listing the folder. All others change the folder of a member that missed
//     two beats, so that the server gives the client up before takeovers wait for it.
package claim
