package diskprobe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
)

// Options say what is good enough. The zero value stands for the leases' defaults.
type Options struct {
	TTL   time.Duration // of leases; 0: 10 s
	Slack time.Duration // for changes that caches hide; 0: 5 s

	MinFreeBytes uint64 // 0: 1 GiB
	// Brief asks for an eighth of the rounds, for the start of a process: all of them took 10 s on GlusterFS.
	Brief    bool
	PeerWait time.Duration // for the other machine to come; 0: 1 min
	PeerTime time.Duration // of the measurement with it; 0: 10 s
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.TTL = cmp.Or(o.TTL, 10*time.Second)
	o.Slack = cmp.Or(o.Slack, 5*time.Second)
	o.MinFreeBytes = cmp.Or(o.MinFreeBytes, 1<<30)
	o.PeerWait = cmp.Or(o.PeerWait, time.Minute)
	o.PeerTime = cmp.Or(o.PeerTime, 10*time.Second)
}

// rounds returns how often a check of so many rounds is made.
func (o *Options) rounds(n int) int {
	if o.Brief {
		return max(n/8, 1)
	}
	return n
}

// Verdict is what a check came to.
type Verdict int

// From good to bad.
const (
	Yes     Verdict = iota
	Warning         // it works, but not well
	No              // stores would be lost
)

func (v Verdict) String() string { return [...]string{"yes", "warn", "no"}[v] }

// Result is a check's.
type Result struct {
	Check   string
	Verdict Verdict
	Text    string // a sentence
}

// Judge warns of a disk that is not as good as it should be, and returns an error for one that is not fit for several
// processes.
func Judge(results []Result, logger *slog.Logger) error {
	var faults []error
	for _, r := range results {
		switch r.Verdict {
		case Warning:
			logger.Warn("the disk is not as good as it should be", "check", r.Check, "says", r.Text)
		case No:
			faults = append(faults, fmt.Errorf("the disk is not fit for several processes: %s: %s", r.Check, r.Text))
		}
	}
	return errors.Join(faults...)
}

// Worst returns the worst verdict.
func Worst(results []Result) Verdict {
	worst := Yes
	for _, r := range results {
		worst = max(worst, r.Verdict)
	}
	return worst
}

// check is one question to the disk; an error is a no.
type check struct {
	name string
	ask  func(dir string, o *Options) (Verdict, string, error)
}

// Run asks the disk of a folder, which must exist. The error is that of a probe that could not be made at all.
func Run(ctx context.Context, dir string, options Options) (results []Result, err error) {
	options.EnsureDefaults()
	own, err := os.MkdirTemp(dir, ".gnocco-probe-")
	if fulldisk.Is(err) {
		return []Result{{"free space", Warning, "the disk is full, so nothing else was asked."}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("diskprobe: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		results = append(results, c.run(own, &options))
	}
	if !options.Brief {
		results = append(results, membersOf(dir)...)
	}
	return results, nil
}

// MaxByFiles is how many processes may know each other by files: more were not measured. Each asks each other one over
// the network, and the disk up to four times a second.
const MaxByFiles = 32

// membersOf compares the members of a data folder with MaxByFiles.
func membersOf(dir string) []Result {
	entries, err := os.ReadDir(filepath.Join(dir, "members"))
	if err != nil {
		return nil // no data folder, or one whose members are in etcd
	}
	members := 0
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), "tmp-") {
			members++
		}
	}
	verdict := Yes
	if members > MaxByFiles {
		verdict = Warning
	}
	return []Result{{"processes", verdict,
		fmt.Sprintf("%d know each other by files; beyond %d use etcd (--coordination).", members, MaxByFiles)}}
}

func (c *check) run(dir string, o *Options) Result {
	verdict, text, err := c.ask(dir, o)
	if fulldisk.Is(err) {
		verdict, text = Warning, "the disk is full, so this was not asked."
	} else if err != nil {
		verdict, text = No, err.Error()
	}
	return Result{Check: c.name, Verdict: verdict, Text: text}
}
