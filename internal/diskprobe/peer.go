package diskprobe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// Both sides write every interval, and look at what the other wrote.
const peerInterval = 100 * time.Millisecond

// state is what one side tells the other, in a file of its own.
type state struct {
	Counter int   `json:"counter"`
	Echo    int   `json:"echo"`  // the other's counter as it was last seen
	Won     []int `json:"won"`   // the counters whose link this side made
	Round   int   `json:"round"` // of the names that it has made
	Done    bool  `json:"done"`
}

// side is a process of a probe of two.
type side struct {
	dir, id, peer string
	own, other    state
	written       []time.Time   // by counter: when the write had returned
	worst         time.Duration // from a write to the sight of its echo
	acknowledged  int           // the highest counter that came back
	hidden        time.Time     // since when a name of the other is not seen; zero: all are
	longest       time.Duration // for which one was not seen
}

// Each side renames peerFiles files in peerRounds rounds, as heartbeats are, and looks for those of the other: a cache
// that hides one in six passes once in 10^19.
const (
	peerFiles  = 50
	peerRounds = 5
)

func (s *side) namesDir(id string) string { return filepath.Join(s.dir, "names-"+id) }

// show makes the names of the next round.
func (s *side) show() error {
	dir := s.namesDir(s.id)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for i := range peerFiles {
		path := func(round int) string { return filepath.Join(dir, fmt.Sprintf("%d-%d", i, round)) }
		err := os.Rename(path(s.own.Round), path(s.own.Round+1))
		if errors.Is(err, os.ErrNotExist) {
			err = os.WriteFile(path(s.own.Round+1), nil, 0o600)
		}
		if err != nil {
			return err
		}
	}
	s.own.Round++
	return nil
}

// seek looks for the other side's names.
func (s *side) seek() error {
	entries, err := os.ReadDir(s.namesDir(s.peer))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	seen := 0
	for _, entry := range entries {
		var file, round int
		if _, err := fmt.Sscanf(entry.Name(), "%d-%d", &file, &round); err == nil && round >= s.other.Round {
			seen++
		}
	}
	switch {
	case seen >= peerFiles || s.other.Round == 0 || s.other.Done:
		s.hidden = time.Time{}
	case s.hidden.IsZero():
		s.hidden = time.Now()
	default:
		s.longest = max(s.longest, time.Since(s.hidden))
	}
	return nil
}

// RunPeer does what needs two machines. It is to be called on both, for the same shared folder, within
// Options.PeerWait. It measures the way there and back, by this side's clock alone: caches hide changes for at most
// that long.
func RunPeer(ctx context.Context, dir string, options Options) (results []Result, err error) {
	options.EnsureDefaults()
	s := &side{dir: filepath.Join(dir, ".gnocco-probe-peers"), id: uuid.NewString()}
	if err := os.MkdirAll(s.dir, 0o750); err != nil {
		return nil, fmt.Errorf("diskprobe: %w", err)
	}
	defer func() { err = errors.Join(err, s.clean()) }()
	if err := s.meet(ctx, options.PeerWait); err != nil {
		return nil, fmt.Errorf("diskprobe: %w", err)
	}
	if err := s.exchange(ctx, options.PeerTime); err != nil {
		return nil, fmt.Errorf("diskprobe: %w", err)
	}
	return s.judge(&options), nil
}

func (s *side) path(id string) string { return filepath.Join(s.dir, id+".state") }

// clean removes what is this side's, and the folder when the other is gone as well.
func (s *side) clean() error {
	names, err := filepath.Glob(filepath.Join(s.dir, "*"+s.id+"*"))
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*.state")); len(left) == 0 {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

func (s *side) write() error {
	content, err := json.Marshal(s.own)
	if err != nil {
		return err
	}
	fresh := filepath.Join(s.dir, "new-"+s.id)
	file, err := os.Create(fresh)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, s.path(s.id))
}

// look reads what the other side wrote; nothing, as long as it is not there.
func (s *side) look() error {
	content, err := os.ReadFile(s.path(s.peer))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(content, &s.other)
}

var errAlone = errors.New("the other machine did not come: run the same command there at the same time")

// meet waits until there is another side.
func (s *side) meet(ctx context.Context, wait time.Duration) error {
	if err := s.write(); err != nil {
		return err
	}
	deadline := time.Now().Add(wait)
	for time.Now().Before(deadline) {
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if id, found := strings.CutSuffix(entry.Name(), ".state"); found && id != s.id {
				s.peer = id
				return nil
			}
		}
		if err := pause.For(ctx, peerInterval); err != nil {
			return err
		}
	}
	return errAlone
}

// exchange raises the counter, links for it, and notes when it comes back.
func (s *side) exchange(ctx context.Context, duration time.Duration) error {
	s.written = []time.Time{time.Now()}
	begun := time.Now()
	end := begun.Add(duration)
	for !s.own.Done || !s.other.Done {
		if time.Now().After(end.Add(duration)) {
			return errors.New("the other machine ended early, or sees nothing of this one")
		}
		if time.Now().Before(end) {
			if err := s.link(); err != nil {
				return err
			}
			s.own.Counter++
			if s.own.Round < peerRounds && time.Since(begun) >= duration*time.Duration(s.own.Round)/(peerRounds+1) {
				if err := s.show(); err != nil {
					return err
				}
			}
		} else {
			s.own.Done = true
		}
		s.own.Echo = s.other.Counter
		if err := s.write(); err != nil {
			return err
		}
		if s.own.Counter == len(s.written) {
			s.written = append(s.written, time.Now())
		}
		if err := pause.For(ctx, peerInterval); err != nil {
			return err
		}
		if err := errors.Join(s.look(), s.seek()); err != nil {
			return err
		}
		for ; s.acknowledged < s.other.Echo && s.acknowledged+1 < len(s.written); s.acknowledged++ {
			s.worst = max(s.worst, time.Since(s.written[s.acknowledged+1]))
		}
	}
	// The other still has to see that this side is done.
	return pause.For(ctx, 2*s.worst+peerInterval)
}

// link reaches for the counter's name, which the other side reaches for as well.
func (s *side) link() error {
	from := filepath.Join(s.dir, fmt.Sprintf("race-%s-%d", s.id, s.own.Counter))
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		return err
	}
	err := os.Link(from, filepath.Join(s.dir, fmt.Sprintf("race-%d", s.own.Counter)))
	if err == nil {
		s.own.Won = append(s.own.Won, s.own.Counter)
	}
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(from))
}

func (s *side) judge(o *Options) []Result {
	stale := Result{Check: "staleness", Text: fmt.Sprintf("the other machine's answer to a change was seen after %s "+
		"at most, both ways; leases allow for %s.", s.worst.Round(time.Millisecond), o.Slack)}
	switch {
	case s.acknowledged == 0:
		stale.Verdict, stale.Text = No, "the other machine saw nothing of what this one wrote."
	case s.worst > 2*o.Slack:
		stale.Verdict = No
	case s.worst > o.Slack:
		stale.Verdict = Warning
	}
	links := Result{Check: "exclusive link", Text: fmt.Sprintf("of two machines at once one succeeds; "+
		"this one: %d, the other: %d.", len(s.own.Won), len(s.other.Won))}
	for _, won := range s.own.Won {
		if slices.Contains(s.other.Won, won) {
			links.Verdict, links.Text = No, "both machines made the same link: two processes could hold one store."
		}
	}
	names := Result{Check: "names", Text: fmt.Sprintf("%d files that the other machine renamed were listed here, "+
		"in round %d, %s later at most.", peerFiles, s.other.Round, s.longest.Round(time.Millisecond))}
	if s.longest > o.Slack {
		names.Verdict, names.Text = No, fmt.Sprintf("a file that the other machine renamed had its old name here %s later: "+
			"heartbeats and claims would not be seen.", s.longest.Round(time.Millisecond))
	}
	return []Result{stale, links, names}
}
