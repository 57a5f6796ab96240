package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithy "github.com/aws/smithy-go/transport/http"
)

// bucket is a backup.Storage below a prefix of a bucket.
type bucket struct {
	client       *s3.Client
	name, prefix string // the prefix ends in a slash, or is empty

	renewEvery, stale time.Duration // of the lock; see lock.go
	lock              *lock         // nil: none
}

// openBucket reads s3://bucket/prefix. The rest is found as AWS's tools find it. A server at an endpoint of its own is
// asked by paths, unless ?path-style=false.
func openBucket(ctx context.Context, address string) (*bucket, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if at.Scheme != "s3" || at.Host == "" {
		return nil, fmt.Errorf("%s is no folder and no s3://bucket/prefix", address)
	}
	settings, err := config.LoadDefaultConfig(ctx, func(o *config.LoadOptions) error {
		// Requests are signed with their bodies' SHA-256. Not all servers know the checksums that newer clients add.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		return nil
	})
	if err != nil {
		return nil, err
	}
	if settings.Region == "" {
		settings.Region = "us-east-1" // what servers other than Amazon's take
	}
	style := at.Query().Get("path-style")
	byPath, err := strconv.ParseBool(style)
	if style != "" && err != nil {
		return nil, fmt.Errorf("path-style of %s is neither true nor false", address)
	}
	b := &bucket{name: at.Host, renewEvery: renewEvery, stale: stale}
	if prefix := strings.Trim(at.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	b.client = s3.NewFromConfig(settings, func(o *s3.Options) {
		o.UsePathStyle = byPath || style == "" && (o.BaseEndpoint != nil || settings.BaseEndpoint != nil)
	})
	return b, nil
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + strings.TrimSuffix(b.prefix, "/") }

func (b *bucket) key(name string) *string { return aws.String(b.prefix + name) }

// Spool makes a file without a name, so a crash leaves nothing.
func (b *bucket) Spool() (*os.File, error) {
	file, err := os.CreateTemp("", "gnocco-backup-")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

func (b *bucket) Put(ctx context.Context, name string, file *os.File) error {
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name), Body: file,
		ContentLength: &size})
	return b.named(name, err)
}

// Commit holds the lock before and after: between the two no other writer removed what the manifest needs. It only
// reads the lock, as followers commit more often than they must renew it, and many servers charge for writes.
func (b *bucket) Commit(ctx context.Context, name string, content []byte) error {
	if err := b.lock.check(ctx); err != nil {
		return err
	}
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name),
		Body: bytes.NewReader(content), IfNoneMatch: aws.String("*")})
	if status(err) == http.StatusPreconditionFailed && b.same(ctx, name, content) {
		err = nil // an attempt whose answer was lost
	}
	if err != nil {
		return b.named(name, err)
	}
	if err := b.lock.check(ctx); err != nil {
		return errors.Join(err, b.Delete(context.WithoutCancel(ctx), name))
	}
	return nil
}

// same reports whether an object has the content.
func (b *bucket) same(ctx context.Context, name string, content []byte) bool {
	object, err := b.Get(ctx, name)
	if err != nil {
		return false
	}
	defer object.Close()
	found, err := io.ReadAll(object)
	return err == nil && bytes.Equal(found, content)
}

func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(name)})
	if err != nil {
		return nil, b.named(name, err)
	}
	return object.Body, nil
}

func (b *bucket) List(ctx context.Context, folder string) (map[string]int64, error) {
	sizes := make(map[string]int64)
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: b.key(folder + "/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, b.named(folder, err)
		}
		for _, object := range page.Contents {
			sizes[strings.TrimPrefix(*object.Key, b.prefix)] = aws.ToInt64(object.Size)
		}
	}
	return sizes, nil
}

func (b *bucket) Delete(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(name)})
	return b.named(name, err)
}

// named returns err with the object's name.
func (b *bucket) named(name string, err error) error {
	if status(err) == http.StatusNotFound {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		err = fmt.Errorf("s3://%s/%s%s: %w", b.name, b.prefix, name, err)
	}
	return err
}

// status is the code of a server's answer that is an error, 0 for none.
func status(err error) int {
	var answer *smithy.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}
