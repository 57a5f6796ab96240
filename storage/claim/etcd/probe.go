package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
)

// connect returns a client of some endpoints. With a password it asks etcd at once.
func (o *Options) connect(endpoints ...string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: endpoints, DialTimeout: o.Timeout, TLS: o.TLS,
		// its errors are returned to us as well
		Username: o.User, Password: o.Password, Logger: zap.NewNop(),
	})
}

// Probe asks each of etcd's members how it is.
func (o *Options) Probe(ctx context.Context) []etcdaccess.Endpoint {
	return o.Settings.Probe(ctx, o.Timeout, func(ctx context.Context, endpoint string, e *etcdaccess.Endpoint) error {
		client, err := o.connect(endpoint)
		if err != nil {
			return err
		}
		defer client.Close()
		status, err := client.Status(ctx, endpoint)
		if err == nil {
			e.Version, e.Leader, e.Bytes = status.Version, status.Leader != 0, status.DbSize
			e.Note(status.Errors)
		}
		return err
	})
}

// explain adds to an error what is wrong with etcd's members.
func (o *Options) explain(ctx context.Context, err error) error {
	return etcdaccess.Explain(err, o.Probe(context.WithoutCancel(ctx)))
}
