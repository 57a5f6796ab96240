package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// counterBytes is the length of a counter in a member's file, which is overwritten in one piece.
const counterBytes = 16

// heartbeat raises a member's counter. One goroutine uses it.
type heartbeat struct {
	path    string
	counter uint64
	lock    io.Closer // of the file, on a local disk; nil: none
}

func membersDir(fs vfs.FS, root string) string { return fs.PathJoin(root, "members") }

// register writes the member's file, complete from the moment it is seen.
func (s *session) register() error {
	dir := membersDir(s.fs, s.root)
	if err := makeFolders(s.fs, dir); err != nil {
		return err
	}
	content, err := json.Marshal(s.member)
	if err != nil {
		return err
	}
	s.heartbeat = heartbeat{path: s.fs.PathJoin(dir, s.member.ID), counter: 1}
	fresh := s.fs.PathJoin(dir, temporary+s.member.ID)
	if err := write(s.fs, fresh, append(appendCounter(nil, s.heartbeat.counter),
		append([]byte{'\n'}, content...)...)); err != nil {
		return err
	}
	if s.detector.local { // before anybody sees the file
		if s.heartbeat.lock, err = lockFile(s.fs, fresh); err != nil {
			return errors.Join(err, s.fs.Remove(fresh))
		}
	}
	won, err := linkOnce(s.fs, fresh, s.heartbeat.path)
	if err == nil && !won {
		err = fmt.Errorf("member %s exists", s.member.ID)
	}
	err = errors.Join(err, s.fs.Remove(fresh))
	if err != nil {
		err = errors.Join(err, s.heartbeat.stop())
	}
	return err
}

// stop releases the lock, by which others see that the process is no member any more.
func (h *heartbeat) stop() error {
	if h.lock == nil {
		return nil
	}
	return h.lock.Close()
}

// beat renews the lease.
func (s *session) beat() error {
	begun := s.options.Clock.Now()
	if err := s.Err(); err != nil {
		return err
	}
	s.heartbeat.counter++
	if err := s.raiseCounter(); err != nil {
		return fmt.Errorf("claim: heartbeat: %w", err)
	}
	if !s.Renew(begun) {
		return s.Err()
	}
	return nil
}

var errRemoved = errors.New("others took this process for dead")

// raiseCounter writes the counter, for others to see.
func (s *session) raiseCounter() error {
	// The file is opened anew each time: a handle may outlive the file, and a mount its server.
	if _, err := s.fs.Stat(s.heartbeat.path); err != nil {
		if notThere(err) {
			s.Lose(errRemoved)
		}
		return err
	}
	file, err := s.fs.OpenReadWrite(s.heartbeat.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(appendCounter(nil, s.heartbeat.counter), 0)
	// On a network disk others see it then. On this machine's they see what is written, and none of them outlives it:
	// so a disk that takes long for a sync costs nobody the lease.
	if err == nil && !s.detector.local {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func appendCounter(dst []byte, counter uint64) []byte {
	return fmt.Appendf(dst, "%0*d", counterBytes, counter)
}

var errMemberFile = errors.New("not a member's file")

// decodeCounter reads the first part of a member's file; rest is the second.
func decodeCounter(content []byte) (counter uint64, rest []byte, err error) {
	text, rest, found := bytes.Cut(content, []byte{'\n'})
	if !found || len(text) != counterBytes {
		return 0, nil, errMemberFile
	}
	if counter, err = strconv.ParseUint(string(text), 10, 64); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errMemberFile, err)
	}
	return counter, rest, nil
}

// decodeMember reads the second part of a member's file, which never changes.
func decodeMember(rest []byte) (m Member, err error) {
	if err = json.Unmarshal(rest, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMemberFile, err)
	}
	if !nodeName.MatchString(m.ID) || !nodeName.MatchString(m.Node) {
		return m, errMemberFile
	}
	return m, nil
}
