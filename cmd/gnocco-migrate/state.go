package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// migration is the content of migration.json.
type migration struct {
	Source string      `json:"source"`
	Passes []passState `json:"passes,omitempty"` // at their end
	Pass   passState   `json:"pass"`             // under way
}

// passState is a pass over the source.
type passState struct {
	Number int       `json:"number"`
	Began  time.Time `json:"began"`
	Result counts    `json:"result"`
}

func (m *migration) pass() int { return m.Pass.Number }

// readState goes on with the pass that was cut short, or begins the next one.
func (t *target) readState(from string) error {
	content, err := os.ReadFile(filepath.Join(t.stage, stateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.state.Source = from
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(content, &t.state); err != nil {
			return fmt.Errorf("%s: %w", stateFile, err)
		}
	}
	if t.state.Source != from {
		return fmt.Errorf("%s is a copy of %s, not of %s", t.path, t.state.Source, from)
	}
	if t.state.Pass.Number == 0 {
		t.state.Pass = passState{Number: len(t.state.Passes) + 1, Began: time.Now().UTC()}
	}
	return t.writeState()
}

func (t *target) writeState() error {
	content, err := json.MarshalIndent(&t.state, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(t.stage, stateFile)
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = file.Write(append(content, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(path+".new", path), syncFolder(t.stage))
}

// progressLog says in which pass each archive was written last. A line that a crash took is written again with its
// archive: so it is not synced.
type progressLog struct {
	mu      sync.Mutex
	file    *os.File
	written map[uuid.UUID]int
}

func openProgressLog(path string) (*progressLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o640)
	if err != nil {
		return nil, err
	}
	l := &progressLog{file: file, written: make(map[uuid.UUID]int)}
	whole := int64(0)
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break // what follows the last newline was cut short
		}
		number, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		pass, err := strconv.Atoi(number)
		id, idErr := uuid.Parse(text)
		if err := errors.Join(err, idErr); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
		l.written[id] = pass
		whole += int64(len(line))
	}
	if err := file.Truncate(whole); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// pass returns in which pass a metric's archive was written last, 0 for none.
func (l *progressLog) pass(id uuid.UUID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written[id]
}

func (l *progressLog) add(pass int, ids []uuid.UUID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text []byte
	for _, id := range ids {
		l.written[id] = pass
		text = fmt.Appendf(text, "%d %s\n", pass, id)
	}
	_, err := l.file.Write(text)
	return err
}

func (l *progressLog) close() error { return l.file.Close() }
