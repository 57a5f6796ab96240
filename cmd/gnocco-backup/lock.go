package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/pause"
)

const (
	lockName   = "lock"
	renewEvery = 20 * time.Second // each is a write, which many servers charge for
	stale      = time.Minute      // a lock without renewals for so long is free
)

// lock is an object that its holder writes again and again, each time on the condition that no other process has. It
// is taken over when it stood still for a while on the clock of another. Two thirds of that after the last renewal the
// holder's context ends.
type lock struct {
	bucket *bucket
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards the rest
	holder  holder
	tag     *string // of the object as we wrote it
	renewed time.Time
}

// holder is the content of a lock.
type holder struct {
	ID      string `json:"id"`
	Host    string `json:"host"`
	Process int    `json:"process"`
	Count   int    `json:"count"` // of renewals
}

// Lock waits for a lock that a dead process may have left.
func (b *bucket) Lock(ctx context.Context) (context.Context, func() error, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, nil, err
	}
	l := &lock{bucket: b, holder: holder{ID: uuid.NewString(), Host: host, Process: os.Getpid()}}
	if err := l.take(ctx); err != nil {
		return nil, nil, err
	}
	if err := l.write(ctx, &s3.PutObjectInput{IfNoneMatch: aws.String("*")}); status(err) != http.StatusPreconditionFailed {
		return nil, nil, errors.Join(err, fmt.Errorf("the server of %s did not refuse a write on a condition (If-None-Match): two "+
			"backups at a time could harm each other", b))
	}
	held, cancel := context.WithCancelCause(ctx)
	l.cancel, b.lock = cancel, l
	ended := make(chan struct{})
	go l.keep(held, ended)
	return held, func() error {
		ctx := context.WithoutCancel(ctx)
		cancel(nil)
		<-ended
		err := l.renew(ctx) // it is removed only if it is still ours
		if err == nil {
			err = b.Delete(ctx, lockName)
		}
		return err
	}, nil
}

// take makes the lock ours, at once or when it has been still for long enough.
func (l *lock) take(ctx context.Context) error {
	var seen *string
	var since time.Time
	for {
		input := &s3.PutObjectInput{IfNoneMatch: aws.String("*")}
		if seen != nil && time.Since(since) > l.bucket.stale {
			input = &s3.PutObjectInput{IfMatch: seen}
		}
		err := l.write(ctx, input)
		if err == nil || status(err) != http.StatusPreconditionFailed {
			return err
		}
		other, tag, err := l.read(ctx)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just been released
			seen = nil
			continue
		case err != nil:
			return err
		case other.ID == l.holder.ID: // we wrote it, and the answer was lost
			l.tag, l.renewed = tag, time.Now()
			return nil
		case seen == nil:
			seen, since = tag, time.Now()
		case *seen != *tag:
			return fmt.Errorf("another backup to %s is under way: process %d of %s", l.bucket, other.Process, other.Host)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(l.bucket.renewEvery / 2):
		}
	}
}

func (l *lock) read(ctx context.Context) (*holder, *string, error) {
	b := l.bucket
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(lockName)})
	if err != nil {
		return nil, nil, b.named(lockName, err)
	}
	defer object.Body.Close()
	found := &holder{}
	return found, object.ETag, json.NewDecoder(object.Body).Decode(found)
}

// write writes the lock on a condition.
func (l *lock) write(ctx context.Context, on *s3.PutObjectInput) error {
	l.holder.Count++
	content, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	on.Bucket, on.Key, on.Body = &l.bucket.name, l.bucket.key(lockName), bytes.NewReader(content)
	begun := time.Now()
	answer, err := l.bucket.client.PutObject(ctx, on)
	if err == nil {
		l.tag, l.renewed = answer.ETag, begun
	}
	return err
}

// renew shows that the lock is held. An error says that it no longer is, or that nobody knows.
func (l *lock) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, l.renewed.Add(l.bucket.stale*2/3))
	defer cancel()
	err := l.write(ctx, &s3.PutObjectInput{IfMatch: l.tag})
	if status(err) == http.StatusPreconditionFailed {
		var tag *string
		if tag, err = l.ours(ctx); err == nil { // an answer was lost
			l.tag = tag
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.Join(errLost, err)
	}
	return err
}

// ours returns the tag of the lock, or an errLost if it is not ours.
func (l *lock) ours(ctx context.Context) (tag *string, err error) {
	other, tag, err := l.read(ctx)
	if err == nil && other.ID != l.holder.ID || errors.Is(err, fs.ErrNotExist) {
		err = errLost
	}
	return tag, err
}

// check returns an error if the lock is not ours, or nobody knows.
func (l *lock) check(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, l.renewed.Add(l.bucket.stale*2/3))
	defer cancel()
	_, err := l.ours(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.Join(errLost, err)
	}
	return err
}

var errLost = errors.New("another backup took the lock, as this one had not renewed it for too long: run it again")

// keep renews the lock until the context ends, and ends it if the lock is lost.
func (l *lock) keep(ctx context.Context, ended chan<- struct{}) {
	defer close(ended)
	for wait := l.bucket.renewEvery; ; {
		if pause.For(ctx, wait) != nil {
			return
		}
		err := l.renew(ctx)
		if wait = l.bucket.renewEvery; err != nil {
			wait /= 4
		}
		l.mu.Lock()
		expired := time.Since(l.renewed) > l.bucket.stale*2/3
		l.mu.Unlock()
		if errors.Is(err, errLost) || err != nil && expired {
			l.cancel(errors.Join(errLost, err))
			return
		}
	}
}
