package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// released stands between the number and the member's ID in the name of a file that gives a claim back. The ID is there because
// a member that does not know whether it got a number gives it back just in case, and it may be another's.
const released = ".released."

// ErrNotHeld is the error of giving back what one does not hold.
var ErrNotHeld = errors.New("claim: not held")

// numbers are the claims that were made for one name, as far as they are kept.
type numbers struct {
	highest  uint64   // 0 for none
	released []string // IDs of members that gave the highest back
	old      []string // files that say nothing any more once the highest is settled
}

// CheckName refuses what would lead out of the data folder.
func CheckName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if !nodeName.MatchString(part) {
			return fmt.Errorf("claim: %q is no name for a claim", name)
		}
	}
	return nil
}

func (s *session) claimsDir(name string) string { return s.fs.PathJoin(s.root, "claims", name) }

func (s *session) claimPath(name string, epoch uint64) string {
	return s.fs.PathJoin(s.claimsDir(name), strconv.FormatUint(epoch, 10))
}

// numbers lists the claims of a name.
func (s *session) numbers(name string) (numbers, error) {
	var n numbers
	files, err := list(s.fs, s.claimsDir(name))
	if err != nil {
		return n, err
	}
	for _, file := range files {
		if epoch, ok := parseNumber(file); ok {
			n.highest = max(n.highest, epoch)
		}
	}
	for _, file := range files {
		text, id, isReleased := strings.Cut(file, released)
		epoch, ok := parseNumber(text)
		if isReleased && epoch == n.highest {
			n.released = append(n.released, id)
		}
		if !ok {
			epoch, ok = temporaryNumber(file)
		}
		if ok && epoch < n.highest {
			n.old = append(n.old, file)
		}
	}
	return n, nil
}

func parseNumber(text string) (epoch uint64, ok bool) {
	epoch, err := strconv.ParseUint(text, 10, 64)
	return epoch, err == nil && epoch > 0
}

// temporaryNumber returns the number that a file was to be linked to, or to give back, that has no final name yet. One of the highest
// number or above may be somebody's who is about to do so.
func temporaryNumber(file string) (epoch uint64, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(file, released), temporary)
	if !ok {
		return 0, false
	}
	return parseNumber(text[strings.LastIndexByte(text, '-')+1:])
}

// Claim implements Session.
func (s *session) Claim(ctx context.Context, name string) (Claim, error) {
	type result struct {
		claim Claim
		err   error
	}
	// The disk may hang; whoever waits need not.
	results := make(chan result, 1)
	go func() {
		c, err := s.claim(name)
		if err == nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), s.release(c))
		}
		results <- result{c, err}
	}()
	select {
	case r := <-results:
		return r.claim, r.err
	case <-ctx.Done():
		return Claim{}, fmt.Errorf("claim: %s: %w", name, ctx.Err())
	}
}

// claim takes name under the next epoch.
func (s *session) claim(name string) (Claim, error) {
	if err := CheckName(name); err != nil {
		return Claim{}, err
	}
	if err := s.reserve(name); err != nil {
		return Claim{}, err
	}
	epoch, err := s.number(name)
	if errors.Is(err, errAgain) {
		epoch, err = s.number(name)
	}
	if err == nil && !s.hold(name, epoch) {
		err = errors.Join(fmt.Errorf("claim: %s: %w: %w", name, ErrLost, errLeft), s.markReleased(name, epoch))
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, name)
		return Claim{}, err
	}
	return Claim{Name: name, Epoch: epoch}, nil
}

// hold notes what was got, unless the process has left meanwhile.
func (s *session) hold(name string, epoch uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return false
	}
	s.held[name] = holding{epoch: epoch, since: s.options.Clock.Now()}
	return true
}

// reserve keeps a second goroutine of this process from claiming the same.
func (s *session) reserve(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return fmt.Errorf("claim: %s: %w: %w", name, ErrLost, errLeft)
	}
	if h, ok := s.held[name]; ok {
		return &HeldError{Name: name, Holder: Holder{Member: s.member, Epoch: h.epoch}}
	}
	s.held[name] = holding{}
	return nil
}

// number gets the next epoch of name, if nobody live has the last. Numbers are taken one after the other: who does not see the
// last ones yet, because a cache hides them, reaches for one that is gone.
func (s *session) number(name string) (uint64, error) {
	begun := s.options.Clock.Now()
	holder, err := s.holder(name)
	if err != nil {
		return 0, err
	}
	// What this process has without knowing, from a link whose answer got lost, it may have.
	if holder.Live() && holder.Member.ID != s.member.ID {
		return 0, &HeldError{Name: name, Holder: holder}
	}
	highest, err := s.highestFolder(name, &holder)
	if err != nil {
		return 0, fmt.Errorf("claim: %s: %w", name, err)
	}
	if highest > holder.Epoch {
		// The folder is older than claims, or from another coordinator's. It gets its number first, so that the next is one more.
		if _, err := s.linkClaim(name, highest, &Member{ID: nobody}); err != nil {
			return 0, fmt.Errorf("claim: %s: %w", name, err)
		}
		return 0, errAgain
	}
	epoch := holder.Epoch + 1
	won, err := s.linkClaim(name, epoch, &s.member)
	if err != nil {
		s.giveBackLater(name, epoch)
		return 0, fmt.Errorf("claim: %s: %w", name, err)
	}
	if !won {
		if holder, err = s.holder(name); err != nil {
			return 0, err
		}
		if holder.Epoch != epoch || holder.Member.ID != s.member.ID { // a link that was thought to have failed
			return 0, &HeldError{Name: name, Holder: holder}
		}
	}
	if err := s.confirm(name, epoch, begun); err != nil {
		s.giveBackLater(name, epoch)
		return 0, err
	}
	return epoch, nil
}

// nobody is the ID of the member that claims are of which nobody made.
const nobody = "nobody"

// errAgain is the error of an attempt that ends with the ground prepared for the next.
var errAgain = errors.New("claim: to be tried again")

// highestFolder returns the newest complete folder of a store. If the last holder gave it back just now, this machine may not
// see all of it yet: then that is an ErrUnstable.
func (s *session) highestFolder(name string, holder *Holder) (uint64, error) {
	var rest Rest
	if holder.Released && holder.Member.ID != nobody {
		content, err := read(s.fs, s.releasedPath(name, holder.Epoch, holder.Member.ID))
		if err != nil {
			return 0, unstable(err)
		}
		if rest, err = ParseRest(string(content)); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnstable, err)
		}
	}
	return rest.Highest(s.fs, s.storeDir(name))
}

func (s *session) storeDir(name string) string { return s.fs.PathJoin(s.root, name) }

var errTooSlow = errors.New("the disk took longer than the TTL")

// confirm looks whether a number that was got is worth something: old numbers are removed one day, so that who looked long
// ago would get one that was taken before.
func (s *session) confirm(name string, epoch uint64, begun time.Duration) error {
	n, err := s.numbers(name)
	if err == nil && s.options.Clock.Now()-begun >= s.options.TTL {
		err = errTooSlow
	}
	if err == nil {
		err = s.Err()
	}
	if err != nil {
		return fmt.Errorf("claim: %s: %w", name, err)
	}
	if n.highest != epoch {
		return &HeldError{Name: name, Holder: Holder{Epoch: n.highest}}
	}
	return nil
}

// linkClaim tries to be the one who gets the number.
func (s *session) linkClaim(name string, epoch uint64, m *Member) (won bool, err error) {
	dir := s.claimsDir(name)
	if err := makeFolders(s.fs, dir); err != nil {
		return false, err
	}
	content, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	// A fresh file each time: a file system may allow few names for one.
	fresh := s.fs.PathJoin(dir, fmt.Sprintf("%s%s-%d", temporary, s.member.ID, epoch))
	if err := write(s.fs, fresh, append(content, '\n')); err != nil {
		return false, err
	}
	if err := s.Err(); err != nil {
		return false, errors.Join(err, s.fs.Remove(fresh))
	}
	won, err = linkOnce(s.fs, fresh, s.claimPath(name, epoch))
	err = errors.Join(err, s.fs.Remove(fresh))
	if err == nil && won {
		err = syncFolder(s.fs, dir)
	}
	return won, err
}

// Holder implements Session.
func (s *session) Holder(_ context.Context, name string) (Holder, error) {
	if err := CheckName(name); err != nil {
		return Holder{}, err
	}
	return s.holder(name)
}

func (s *session) holder(name string) (Holder, error) {
	n, err := s.numbers(name)
	if err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, err)
	}
	h := Holder{Epoch: n.highest}
	if n.highest == 0 {
		return h, nil
	}
	content, err := read(s.fs, s.claimPath(name, n.highest))
	if err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, unstable(err))
	}
	if err := json.Unmarshal(content, &h.Member); err != nil || !nodeName.MatchString(h.Member.ID) {
		// It lost its content with the power, or this machine doesn't see it yet. Whoever made it is given the time to die.
		h.Member = Member{ID: fmt.Sprintf("unknown.%s.%d", strings.ReplaceAll(name, "/", "."), n.highest)}
	}
	if h.Released = h.Member.ID == nobody || slices.Contains(n.released, h.Member.ID); !h.Released {
		h.Dead, err = s.roll.isDead(&h.Member)
	}
	return h, err
}

// Release implements Session.
func (s *session) Release(_ context.Context, c Claim) error { return s.release(c) }

func (s *session) release(c Claim) error {
	s.mu.Lock()
	h := s.held[c.Name]
	s.mu.Unlock()
	if h.epoch == 0 || h.epoch != c.Epoch {
		return fmt.Errorf("%w: %s at epoch %d", ErrNotHeld, c.Name, c.Epoch)
	}
	if err := s.markReleased(c.Name, c.Epoch); err != nil {
		return fmt.Errorf("claim: release %s: %w", c.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, c.Name)
	return nil
}

func (s *session) releasedPath(name string, epoch uint64, id string) string {
	return s.claimPath(name, epoch) + released + id
}

// markReleased gives a number back. The file holds a Rest.
func (s *session) markReleased(name string, epoch uint64) error {
	rest, err := RestOf(s.fs, s.storeDir(name), epoch)
	if err != nil {
		return err
	}
	// A name of its own each time: a number may be given back twice at once, by who holds it and by who leaves.
	fresh := s.fs.PathJoin(s.claimsDir(name), fmt.Sprintf("%s%s.%d-%d%s", temporary, s.member.ID, s.releases.Add(1), epoch, released))
	if err := write(s.fs, fresh, []byte(rest.String())); err != nil {
		return err
	}
	return s.fs.Rename(fresh, s.releasedPath(name, epoch, s.member.ID))
}

// giveBackLater has tidy give back a number that this process got, or may yet get, and does not use.
func (s *session) giveBackLater(name string, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unused = append(s.unused, Claim{name, epoch})
}

// tidy gives back what is not used, and removes older numbers of what this process has for long.
func (s *session) tidy() error {
	s.mu.Lock()
	unused := s.unused
	s.unused = nil
	var settled []string
	now := s.options.Clock.Now()
	for name, h := range s.held {
		if h.epoch != 0 && !h.tidied && now-h.since > s.options.Grace() {
			settled = append(settled, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(settled)
	var errs []error
	for _, c := range unused {
		done, err := s.giveBack(c)
		if !done {
			s.giveBackLater(c.Name, c.Epoch)
		}
		errs = append(errs, err)
	}
	for _, name := range settled {
		errs = append(errs, s.removeOldNumbers(name))
	}
	return errors.Join(errs...)
}

// giveBack gives an unused number back if it is this process's; done is false if that may still become so.
func (s *session) giveBack(c Claim) (done bool, err error) {
	s.mu.Lock()
	h, busy := s.held[c.Name]
	if busy { // got after all, or being tried again
		s.mu.Unlock()
		return h.epoch != 0, nil
	}
	s.held[c.Name] = holding{} // so that it is not claimed meanwhile
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, c.Name)
	}()
	holder, err := s.holder(c.Name)
	if err != nil || holder.Epoch < c.Epoch {
		return false, err
	}
	if holder.Epoch > c.Epoch || holder.Member.ID != s.member.ID || holder.Released {
		return true, nil
	}
	err = s.markReleased(c.Name, c.Epoch)
	return err == nil, err
}

func (s *session) removeOldNumbers(name string) error {
	n, err := s.numbers(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	h := s.held[name]
	s.mu.Unlock()
	if h.epoch != n.highest {
		return nil // given back meanwhile
	}
	for _, file := range n.old {
		if err := s.fs.Remove(s.fs.PathJoin(s.claimsDir(name), file)); err != nil && !notThere(err) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] == h {
		h.tidied = true
		s.held[name] = h
	}
	return nil
}
