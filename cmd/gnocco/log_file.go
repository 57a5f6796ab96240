package main

import (
	"os"
	"sync"
)

// logFile is a file to log to. Programs that rotate logs rename or remove it: the next line then goes to a new file of
// that name.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // each line was written
	}
	l.file = file
	return nil
}

func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isCurrent() {
		_ = l.open() // without a new one the old one is written on
	}
	return l.file.Write(line)
}

// isCurrent reports whether the path still leads to the open file.
func (l *logFile) isCurrent() bool {
	named, err := os.Stat(l.path)
	if err != nil {
		return false
	}
	opened, err := l.file.Stat()
	return err == nil && os.SameFile(named, opened)
}
