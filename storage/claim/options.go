package claim

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	defaultTTL   = 10 * time.Second
	defaultSlack = 5 * time.Second
	defaultPoll  = 250 * time.Millisecond

	minTTL = 100 * time.Millisecond
	// enoughSlack covers what was seen on GlusterFS under load: a counter that was 2.6 s old.
	enoughSlack = 3 * time.Second
)

// Options of a coordinator. The zero value works. All members of a data folder should have the same TTL and Slack: a
// member that waits for less than another's TTL + Slack calls it dead too early.
type Options struct {
	TTL   time.Duration // of a lease from the beginning of its last renewal; 0: 10 s
	Beat  time.Duration // from one renewal to the next; 0: a quarter of TTL
	Slack time.Duration // how much longer others wait, for changes that caches hide; 0: 5 s
	Poll  time.Duration // how often members are looked for, and own death; 0: 250 ms

	// Ask returns what a member says itself, over the network; ok is false if it does not answer. The heartbeats of
	// members that answer are not listed. nil: members are not asked.
	Ask func(m Member) (pulse Pulse, ok bool)

	// Show makes a member give its names for comparison those of a new round, and returns the round; ok is false if it
	// does not answer. A member that joins looks for them. nil: it does not.
	Show func(m Member) (round uint64, ok bool)

	FS     vfs.FS       // nil: the disk
	Clock  Clock        // nil: BootClock
	Logger *slog.Logger // nil: none
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.TTL = cmp.Or(o.TTL, defaultTTL)
	o.Beat = cmp.Or(o.Beat, o.TTL/4)
	o.Slack = cmp.Or(o.Slack, defaultSlack)
	o.Poll = cmp.Or(o.Poll, min(defaultPoll, o.Beat))
	o.FS = cmp.Or(o.FS, vfs.Default)
	o.Clock = cmp.Or[Clock](o.Clock, BootClock{})
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

// Validate lists every fault at once, for options with their defaults filled in.
func (o *Options) Validate() error {
	var faults []error
	if o.TTL < minTTL {
		faults = append(faults, fmt.Errorf("claim: TTL is %s, less than %s", o.TTL, minTTL))
	}
	if o.Beat <= 0 || o.Beat > o.TTL/2 {
		faults = append(faults, fmt.Errorf("claim: beat is %s, not above 0 and at most half the TTL of %s", o.Beat,
			o.TTL))
	}
	if o.Slack < 0 {
		faults = append(faults, fmt.Errorf("claim: slack is %s, negative", o.Slack))
	}
	if o.Poll <= 0 || o.Poll > o.TTL {
		faults = append(faults, fmt.Errorf("claim: poll is %s, not above 0 and at most the TTL of %s", o.Poll, o.TTL))
	}
	return errors.Join(faults...)
}

// Warnings say what is allowed and may still be regretted.
func (o *Options) Warnings() []string {
	var warnings []string
	if o.Slack < enoughSlack {
		warnings = append(warnings,
			fmt.Sprintf("slack is %s: network file systems were seen to hide a change for longer than that; "+
				"below %s only on a local disk", o.Slack, enoughSlack))
	}
	if o.TTL < 2*time.Second {
		warnings = append(warnings, fmt.Sprintf("TTL is %s: a single slow sync ends the process", o.TTL))
	}
	return warnings
}

// DeadAfter is how long a member's counter stands still until the member is dead.
func (o *Options) DeadAfter() time.Duration { return o.TTL + o.Slack }

// untilNext returns when to ask a member again whose last heartbeat is so old: shortly after the next one.
func (o *Options) untilNext(age time.Duration) time.Duration {
	return min(max(o.Beat-age+o.Beat/10, o.Beat/4), o.Beat)
}

// Grace is for how long after a takeover what came before must be kept.
func (o *Options) Grace() time.Duration { return 2 * (o.TTL + o.Slack) }
