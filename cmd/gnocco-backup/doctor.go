package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/internal/diskprobe"
)

// errUnfit is the error of a bucket that loses or hides objects.
var errUnfit = errors.New("the bucket is not fit for backups")

// errOneWriter is the error of a bucket whose conditional writes several writers win.
var errOneWriter = errors.New("the bucket is fit for one writer at a time, and does not itself keep out a second one")

// statusOneWriter is the exit status of an errOneWriter.
const statusOneWriter = 2

const (
	probeWriters = 32
	probeRounds  = 25
)

func newDoctor() *cobra.Command {
	var endpoints []string
	bucket := &cobra.Command{
		Use:   "bucket s3://bucket/prefix",
		Short: "Check what a bucket may be used for",
		Long: fmt.Sprintf(`Check whether a bucket does what backups rely on: objects are read and listed as soon as they are
written, and a conditional write (If-None-Match, If-Match) has one winner of %d writers, in %d rounds
each. Several servers of S3 let more than one win.

Each check is answered yes, warn or no. The exit status is 0 if all are yes, 2 if only conditional
writes fail, so that you must see to it that one backup runs at a time, and 1 if the bucket is not
fit for backups. The objects of the check are removed again.`, probeWriters, probeRounds),
		Example: `  gnocco doctor bucket s3://backups/gnocco
  gnocco doctor bucket s3://backups/gnocco --endpoint https://10.0.0.5:8333 --endpoint https://10.0.0.6:8333`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBucket(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return newProbe(b, endpoints).run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	bucket.Flags().StringArrayVar(&endpoints, "endpoint", nil, "one of several endpoints of the bucket, asked by turns")
	doctor := &cobra.Command{Use: "doctor", Short: "Check a bucket"}
	doctor.AddCommand(bucket)
	return doctor
}

// probe checks a bucket, by objects below a prefix of its own.
type probe struct {
	buckets []*bucket // the same one by each endpoint
	own     string    // names of the probe's objects begin so
	rounds  int       // of each check

	turn       int // whose endpoint is asked next
	puts, gets []time.Duration
}

func newProbe(b *bucket, endpoints []string) *probe {
	p := &probe{buckets: []*bucket{b}, own: "doctor/" + uuid.NewString(), rounds: probeRounds}
	for i, endpoint := range endpoints {
		by := *b
		by.client = s3.New(b.client.Options(), func(o *s3.Options) { o.BaseEndpoint = aws.String(endpoint) })
		p.buckets = append(p.buckets[:i], &by)
	}
	return p
}

// run makes all checks, and prints their answers.
func (p *probe) run(ctx context.Context, w io.Writer) (err error) {
	defer func() { err = errors.Join(err, p.clean(context.WithoutCancel(ctx))) }()
	checks := []struct {
		name  string
		wrong diskprobe.Verdict // for a wrong answer
		ask   func(context.Context) (wrong string, err error)
	}{
		{"read after write", diskprobe.No, p.reads},
		{"list after write", diskprobe.No, p.lists},
		{"If-None-Match", diskprobe.Warning, func(ctx context.Context) (string, error) { return p.race(ctx, false) }},
		{"If-Match", diskprobe.Warning, func(ctx context.Context) (string, error) { return p.race(ctx, true) }},
	}
	worst := diskprobe.Yes
	for _, c := range checks {
		verdict := diskprobe.Yes
		text, err := c.ask(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if text != "" {
			verdict = c.wrong
		}
		worst = max(worst, verdict)
		if _, err := fmt.Fprintf(w, "%-4s  %-16s  %s\n", verdict, c.name, cmp.Or(text, "in all rounds")); err != nil {
			return err
		}
	}
	slices.Sort(p.puts)
	slices.Sort(p.gets)
	_, err = fmt.Fprintf(w, "a write took %s at the median, %s at most; a read %s and %s\n", middle(p.puts),
		p.puts[len(p.puts)-1], middle(p.gets), p.gets[len(p.gets)-1])
	return errors.Join(err, map[diskprobe.Verdict]error{diskprobe.Warning: errOneWriter, diskprobe.No: errUnfit}[worst])
}

func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// next returns the bucket by the next endpoint.
func (p *probe) next() *bucket {
	p.turn++
	return p.buckets[p.turn%len(p.buckets)]
}

// put writes an object.
func (p *probe) put(ctx context.Context, name, content string) error {
	b, begun := p.next(), time.Now()
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name),
		Body: strings.NewReader(content)})
	p.puts = append(p.puts, time.Since(begun))
	return b.named(name, err)
}

// get reads an object, "" if there is none.
func (p *probe) get(ctx context.Context, name string) (content string, tag *string, err error) {
	b, begun := p.next(), time.Now()
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(name)})
	if err != nil {
		if err = b.named(name, err); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", nil, err
	}
	text, err := io.ReadAll(object.Body)
	p.gets = append(p.gets, time.Since(begun))
	return string(text), object.ETag, errors.Join(err, object.Body.Close())
}

// reads asks whether an object is read as it was last written, and no longer once it is deleted.
func (p *probe) reads(ctx context.Context) (wrong string, err error) {
	name := p.own + "/read"
	for round := range p.rounds {
		for _, content := range []string{fmt.Sprint("first ", round), fmt.Sprint("second ", round), ""} {
			if content == "" {
				err = p.next().Delete(ctx, name)
			} else {
				err = p.put(ctx, name, content)
			}
			if err != nil {
				return "", err
			}
			if found, _, err := p.get(ctx, name); err != nil || found != content {
				return fmt.Sprintf("in round %d: %q was read, and %q was the last write", round, found, content), err
			}
		}
	}
	return "", nil
}

// lists asks whether a list has an object that was written, and no longer once it is deleted.
func (p *probe) lists(ctx context.Context) (wrong string, err error) {
	for round := range p.rounds {
		name := fmt.Sprint(p.own, "/list/", round)
		for _, there := range []bool{true, false} {
			if there {
				err = p.put(ctx, name, "listed")
			} else {
				err = p.next().Delete(ctx, name)
			}
			if err != nil {
				return "", err
			}
			names, err := p.next().List(ctx, p.own+"/list")
			if _, found := names[name]; err != nil || found != there {
				return fmt.Sprintf("in round %d: the list had the object: %t; it was there: %t", round, found, there), err
			}
		}
	}
	return "", nil
}

// race asks whether one of many conditional writes at once wins: of a new object, or of a version of one.
func (p *probe) race(ctx context.Context, version bool) (wrong string, err error) {
	for round := range p.rounds {
		name := fmt.Sprint(p.own, "/race/", version, round)
		input := s3.PutObjectInput{IfNoneMatch: aws.String("*")}
		if version {
			if err := p.put(ctx, name, "version"); err != nil {
				return "", err
			}
			_, tag, err := p.get(ctx, name)
			if err != nil || tag == nil {
				return "an object has no ETag", err
			}
			input = s3.PutObjectInput{IfMatch: tag}
		}
		answers, start := make([]error, probeWriters), make(chan struct{})
		var writers sync.WaitGroup
		for i := range answers {
			b, own := p.next(), input
			own.Bucket, own.Key, own.Body = &b.name, b.key(name), bytes.NewReader(fmt.Append(nil, "writer ", i))
			writers.Go(func() {
				<-start
				_, answers[i] = b.client.PutObject(ctx, &own, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
			})
		}
		close(start)
		writers.Wait()
		var winners []string
		unknown := 0
		for i, err := range answers {
			switch code := status(err); {
			case err == nil:
				winners = append(winners, fmt.Sprint("writer ", i))
			case code == http.StatusNotImplemented:
				return "the server does not have such writes", nil
			case code == http.StatusPreconditionFailed, code == http.StatusConflict:
			case ctx.Err() != nil || code/100 == 4 && code != http.StatusTooManyRequests:
				return "", err
			default:
				unknown++ // it may have won
			}
		}
		found, _, err := p.get(ctx, name)
		if err != nil {
			return "", err
		}
		if len(winners) > 1 || len(winners)+unknown == 0 || unknown == 0 && found != winners[0] {
			return fmt.Sprintf("in round %d %d of %d writers won", round, len(winners), probeWriters), nil
		}
		if unknown == probeWriters {
			return "", fmt.Errorf("no writer got an answer: %w", answers[0])
		}
	}
	return "", nil
}

// clean removes the probe's objects.
func (p *probe) clean(ctx context.Context) error {
	names, err := p.next().List(ctx, p.own)
	for name := range names {
		err = errors.Join(err, p.next().Delete(ctx, name))
	}
	return err
}
