package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const released = ".released"

// ErrNotHeld is the error of giving back what one does not hold.
var ErrNotHeld = errors.New("claim: not held")

// numbers are the claims that were made for one name, as far as they are kept.
type numbers struct {
	highest  uint64 // 0 for none
	released bool   // the highest
	kept     []uint64
}

// checkName refuses what would lead out of the data folder.
func checkName(name string) error {
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
	free := make(map[uint64]bool)
	for _, file := range files {
		text, isReleased := strings.CutSuffix(file, released)
		epoch, err := strconv.ParseUint(text, 10, 64)
		if err != nil || epoch == 0 {
			continue
		}
		if isReleased {
			free[epoch] = true
			continue
		}
		n.kept = append(n.kept, epoch)
		n.highest = max(n.highest, epoch)
	}
	n.released = free[n.highest]
	return n, nil
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
	if err := checkName(name); err != nil {
		return Claim{}, err
	}
	if err := s.reserve(name); err != nil {
		return Claim{}, err
	}
	epoch, err := s.number(name)
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
	s.held[name] = epoch
	return true
}

// reserve keeps a second goroutine of this process from claiming the same.
func (s *session) reserve(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return fmt.Errorf("claim: %s: %w: %w", name, ErrLost, errLeft)
	}
	if epoch, ok := s.held[name]; ok {
		return &HeldError{Name: name, Holder: Holder{Member: s.member, Epoch: epoch}}
	}
	s.held[name] = 0
	return nil
}

// number gets the next epoch of name, if nobody live has the last.
func (s *session) number(name string) (uint64, error) {
	begun := s.options.Clock.Now()
	holder, err := s.holder(name)
	if err != nil {
		return 0, err
	}
	if holder.Live() {
		return 0, &HeldError{Name: name, Holder: holder}
	}
	folders, err := readFolders(s.fs, s.fs.PathJoin(s.root, name))
	if err != nil {
		return 0, fmt.Errorf("claim: %s: %w", name, err)
	}
	epoch := max(holder.Epoch, folders.highest()) + 1
	won, err := s.linkClaim(name, epoch)
	if err != nil {
		return 0, fmt.Errorf("claim: %s: %w", name, err)
	}
	if !won {
		holder, err := s.holder(name)
		if err != nil {
			return 0, err
		}
		return 0, &HeldError{Name: name, Holder: holder}
	}
	if err := s.confirm(name, epoch, begun); err != nil {
		return 0, errors.Join(err, s.markReleased(name, epoch))
	}
	return epoch, nil
}

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
func (s *session) linkClaim(name string, epoch uint64) (won bool, err error) {
	dir := s.claimsDir(name)
	if err := makeFolders(s.fs, dir); err != nil {
		return false, err
	}
	content, err := json.Marshal(s.member)
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
	if err := checkName(name); err != nil {
		return Holder{}, err
	}
	return s.holder(name)
}

func (s *session) holder(name string) (Holder, error) {
	n, err := s.numbers(name)
	if err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, err)
	}
	h := Holder{Epoch: n.highest, Released: n.released}
	if n.highest == 0 {
		return h, nil
	}
	content, err := read(s.fs, s.claimPath(name, n.highest))
	if err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, err)
	}
	if err := json.Unmarshal(content, &h.Member); err != nil || !nodeName.MatchString(h.Member.ID) {
		// It lost its content with the power. Its maker is as unknown as one that was removed.
		h.Member = Member{ID: "unknown-" + strconv.FormatUint(n.highest, 10)}
	}
	if !h.Released {
		h.Dead, err = s.roll.isDead(&h.Member)
	}
	return h, err
}

// Release implements Session.
func (s *session) Release(_ context.Context, c Claim) error { return s.release(c) }

func (s *session) release(c Claim) error {
	s.mu.Lock()
	epoch, ok := s.held[c.Name]
	s.mu.Unlock()
	if !ok || epoch != c.Epoch {
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

func (s *session) markReleased(name string, epoch uint64) error {
	file, err := s.fs.Create(s.claimPath(name, epoch)+released, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return file.Close()
}
