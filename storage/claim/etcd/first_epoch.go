package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gnocco-db/gnocco/storage/claim"
)

func parseBase(kvs []*mvccpb.KeyValue) (uint64, error) {
	if len(kvs) == 0 {
		return 0, errors.New("claim: etcd has lost the base of epochs")
	}
	base, err := strconv.ParseUint(string(kvs[0].Value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("claim: base of epochs in etcd: %w", err)
	}
	return base, nil
}

var errBehind = errors.New("etcd is behind the disk, and others have joined it")

// ensureBase sees to it that epochs to come are above those on the disk.
func (s *session) ensureBase(ctx context.Context) error {
	onDisk, err := claim.HighestEpoch(s.options.FS, s.root)
	if err != nil {
		return err
	}
	key := s.key("base", "")
	txn, err := s.client.Txn(ctx).If(absent(key)).Then(clientv3.OpPut(key, formatBase(onDisk))).
		Else(clientv3.OpGet(key), clientv3.OpGet(s.key("members/", ""), clientv3.WithPrefix(),
			clientv3.WithCountOnly())).Commit()
	if err != nil || txn.Succeeded {
		return err
	}
	kvs := txn.Responses[0].GetResponseRange().Kvs
	base, err := parseBase(kvs)
	if err != nil {
		return err
	}
	if base+uint64(txn.Header.Revision) >= onDisk {
		return nil
	}
	if txn.Responses[1].GetResponseRange().Count > 0 {
		return fmt.Errorf("%w: epoch %d is there, %d would be next", errBehind, onDisk,
			base+uint64(txn.Header.Revision)+1)
	}
	unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", kvs[0].ModRevision)
	raised, err := s.client.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, formatBase(onDisk))).Commit()
	if err == nil && !raised.Succeeded {
		err = errors.New("another member joins at the same time: try again")
	}
	return err
}
