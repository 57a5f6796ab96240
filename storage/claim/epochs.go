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

	"github.com/cockroachdb/pebble/v2/vfs"
)

// claimedEpochs are the claims of one name, as far as their files are kept.
type claimedEpochs struct {
	highest  uint64   // 0 for none
	released []string // IDs of members that gave the highest back
	old      []string // files that can go once the highest is held for long
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

// epochs lists the claims of a name.
func (s *session) epochs(name string) (claimedEpochs, error) {
	var n claimedEpochs
	files, err := list(s.fs, s.claimsDir(name))
	if err != nil {
		return n, err
	}
	for _, file := range files {
		if epoch, ok := parseClaimEpoch(file); ok {
			n.highest = max(n.highest, epoch)
		}
	}
	for _, file := range files {
		text, id, isReleased := strings.Cut(file, released)
		epoch, ok := parseClaimEpoch(text)
		if isReleased && epoch == n.highest {
			n.released = append(n.released, id)
		}
		if !ok {
			epoch, ok = temporaryEpoch(file)
		}
		if ok && epoch < n.highest {
			n.old = append(n.old, file)
		}
	}
	return n, nil
}

func parseClaimEpoch(text string) (epoch uint64, ok bool) {
	epoch, err := strconv.ParseUint(text, 10, 64)
	return epoch, err == nil && epoch > 0
}

// temporaryEpoch returns the epoch of a file without its final name: a claim, or a release, that is not complete. One
// of the highest epoch or above may still be completed by its owner.
func temporaryEpoch(file string) (epoch uint64, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(file, released), temporary)
	if !ok {
		return 0, false
	}
	return parseClaimEpoch(text[strings.LastIndexByte(text, '-')+1:])
}

// Claim implements Session.
func (s *session) Claim(ctx context.Context, name string) (Claim, error) {
	type result struct {
		claim Claim
		err   error
	}
	// The disk may hang; the caller need not.
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
	epoch, err := s.nextEpoch(name)
	if errors.Is(err, errAgain) {
		epoch, err = s.nextEpoch(name)
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

// nextEpoch gets the next epoch of name, if no live member has the last. Epochs are taken one after the other: a member
// that does not see the last ones yet, because a cache hides them, tries one that is taken.
func (s *session) nextEpoch(name string) (uint64, error) {
	begun := s.options.Clock.Now()
	holder, err := s.holder(name)
	if err != nil {
		return 0, err
	}
	// This process may have a claim that it does not know, from a link whose answer got lost.
	if holder.Live() && holder.Member.ID != s.member.ID {
		return 0, &HeldError{Name: name, Holder: holder}
	}
	highest, err := s.highestFolder(name, &holder)
	if err != nil {
		return 0, fmt.Errorf("claim: %s: %w", name, err)
	}
	if highest > holder.Epoch {
		// The folder is older than claims, or from another coordinator's. It gets its number first, so that the next is
		// one more.
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

// nobody is the member's ID in claims that no process made.
const nobody = "nobody"

// errAgain is the error of an attempt that ends with the ground prepared for the next.
var errAgain = errors.New("claim: to be tried again")

// highestFolder returns the newest complete folder of a store. If the last holder gave it back just now, this machine
// may not see all of it yet: then that is an ErrUnstable.
func (s *session) highestFolder(name string, holder *Holder) (uint64, error) {
	if !holder.Released || holder.Member.ID == nobody {
		return HighestFolder(s.fs, s.root, name, nil)
	}
	content, err := read(s.fs, s.releasedPath(name, holder.Epoch, holder.Member.ID))
	if err != nil {
		return 0, unstable(err)
	}
	left, err := ParseClosedState(string(content))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnstable, err)
	}
	return HighestFolder(s.fs, s.root, name, &left)
}

func (s *session) storeDir(name string) string { return s.fs.PathJoin(s.root, name) }

// errTooSlow is the error of a claim that took so long that others may have claimed meanwhile. It is no fault of the
// store's files.
var errTooSlow = fmt.Errorf("the disk took longer than the TTL: %w", context.DeadlineExceeded)

// confirm checks that the epoch is still the highest. Files of old epochs are removed one day, so a member that looked
// long ago could get an epoch that was taken before.
func (s *session) confirm(name string, epoch uint64, begun time.Duration) error {
	n, err := s.epochs(name)
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

// linkClaim tries to get the epoch; won reports whether m did.
func (s *session) linkClaim(name string, epoch uint64, m *Member) (won bool, err error) {
	dir := s.claimsDir(name)
	if err := MakeFolders(s.fs, s.root, dir); err != nil {
		return false, err
	}
	content, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	// A fresh file each time: a file system may allow few names for one. Under a fresh name: a creation that failed may
	// still happen, and would empty a file of the same name.
	fresh := s.fs.PathJoin(dir, fmt.Sprintf("%s%s.%d-%d", temporary, s.member.ID, s.written.Add(1), epoch))
	if err := write(s.fs, fresh, append(content, '\n')); err != nil {
		return false, err
	}
	if err := s.Err(); err != nil {
		return false, errors.Join(err, s.fs.Remove(fresh))
	}
	won, err = linkOnce(s.fs, fresh, s.claimPath(name, epoch))
	err = errors.Join(err, s.fs.Remove(fresh))
	if err == nil && won {
		err = SyncFolder(s.fs, dir)
	}
	return won, err
}

// Holder implements Session.
func (s *session) Holder(ctx context.Context, name string) (Holder, error) {
	if err := CheckName(name); err != nil {
		return Holder{}, err
	}
	return s.patiently(ctx, name, func() (Holder, error) { return s.holder(name) })
}

func (s *session) holder(name string) (Holder, error) {
	n, err := s.epochs(name)
	if err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, err)
	}
	h := Holder{Epoch: n.highest}
	if n.highest == 0 {
		return h, nil
	}
	if last, ok := s.last.Load(name); ok && last.(Holder).Epoch == n.highest {
		h = last.(Holder) // a claim stays what it was once it can be read
	} else if content, err := read(s.fs, s.claimPath(name, n.highest)); err != nil {
		return Holder{}, fmt.Errorf("claim: %s: %w", name, unstable(err))
	} else if err := json.Unmarshal(content, &h.Member); err == nil && nodeName.MatchString(h.Member.ID) {
		s.last.Store(name, h)
	} else {
		// It lost its content with the power, or this machine doesn't see it yet. Its maker is given the time to die.
		h.Member = Member{ID: fmt.Sprintf("unknown.%s.%d", strings.ReplaceAll(name, "/", "."), n.highest)}
	}
	h.Released = h.Member.ID == nobody || slices.Contains(n.released, h.Member.ID)
	if !h.Released && s.detector != nil { // without one the member counts as alive
		h.Dead, err = s.detector.isDead(&h.Member)
	}
	return h, err
}

// HighestEpoch returns the highest epoch of all the stores and claims below a data folder, for a coordinator that
// counts in another way and must begin above it.
func HighestEpoch(fs vfs.FS, root string) (highest uint64, err error) {
	defer wrap(&err, "highest epoch")
	look := func(dir string, of func(string) (uint64, bool)) error {
		epoch, err := highestIn(fs, fs.PathJoin(root, dir), of)
		highest = max(highest, epoch)
		return err
	}
	errs := []error{look("index", parseEpoch), look("claims/index", parseClaimEpoch)}
	for _, kind := range []string{"incoming", "sacks"} {
		parsers := map[string]func(string) (uint64, bool){kind: parseEpoch, "claims/" + kind: parseClaimEpoch}
		for dir, of := range parsers {
			names, err := list(fs, fs.PathJoin(root, dir))
			errs = append(errs, err)
			for _, name := range names {
				errs = append(errs, look(dir+"/"+name, of))
			}
		}
	}
	return highest, errors.Join(errs...)
}

// highestIn returns the highest epoch of one store, or of the claims on it.
func highestIn(fs vfs.FS, dir string, of func(name string) (uint64, bool)) (uint64, error) {
	if info, err := fs.Stat(dir); err != nil || !info.IsDir() {
		if notThere(err) {
			err = nil
		}
		return 0, err
	}
	names, err := list(fs, dir)
	highest := uint64(0)
	for _, name := range names {
		text, _, _ := strings.Cut(name, ".") // also of an epoch that is not complete, or given back
		if epoch, ok := of(text); ok {
			highest = max(highest, epoch)
		}
	}
	return highest, err
}
