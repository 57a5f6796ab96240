package etcd_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
)

// trio is an etcd of three members within the test.
type trio struct {
	t       *testing.T
	configs []*embed.Config
	servers []*embed.Etcd // nil: it does not run
}

// startTrio starts three members; change sets options of each.
func startTrio(t *testing.T, change func(*embed.Config)) *trio {
	t.Helper()
	c := &trio{t: t, servers: make([]*embed.Etcd, 3)}
	var cluster []string
	scheme := "http"
	for i := range 3 {
		config := embed.NewConfig()
		config.Name, config.Dir, config.LogLevel = fmt.Sprint("m", i), t.TempDir(), "fatal"
		if change != nil {
			change(config)
		}
		if !config.ClientTLSInfo.Empty() {
			scheme = "https"
		}
		client, peers := free(t), free(t)
		config.ListenClientUrls = []url.URL{{Scheme: scheme, Host: client}}
		config.AdvertiseClientUrls = config.ListenClientUrls
		config.ListenPeerUrls = []url.URL{{Scheme: "http", Host: peers}}
		config.AdvertisePeerUrls = config.ListenPeerUrls
		cluster = append(cluster, config.Name+"=http://"+peers)
		c.configs = append(c.configs, config)
	}
	for _, config := range c.configs {
		config.InitialCluster = strings.Join(cluster, ",")
	}
	c.start(0, 1, 2)
	t.Cleanup(func() { c.stop(0, 1, 2) })
	return c
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

// start starts members, and waits until each serves.
func (c *trio) start(members ...int) {
	c.t.Helper()
	var all sync.WaitGroup
	for _, i := range members {
		all.Go(func() {
			server, err := embed.StartEtcd(c.configs[i])
			if err != nil {
				c.t.Error(err)
				return
			}
			c.servers[i] = server
			select {
			case <-server.Server.ReadyNotify():
			case <-time.After(time.Minute):
				c.t.Errorf("member %d is not ready after a minute", i)
			}
		})
	}
	all.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// stop ends members at once.
func (c *trio) stop(members ...int) {
	for _, i := range members {
		if s := c.servers[i]; s != nil {
			s.Server.HardStop()
			s.Close()
			c.servers[i] = nil
		}
	}
}

// leader returns the member that leads, -1 for none.
func (c *trio) leader() int {
	return slices.IndexFunc(c.servers, func(s *embed.Etcd) bool {
		return s != nil && s.Server.Leader() == s.Server.MemberID()
	})
}

func (c *trio) hosts() (hosts []string) {
	for _, config := range c.configs {
		hosts = append(hosts, config.ListenClientUrls[0].Host)
	}
	return hosts
}

// cable is a way to etcd that can be cut.
type cable struct {
	listener    net.Listener
	to          string
	mu          sync.Mutex
	cut         bool
	connections map[net.Conn]bool
}

// cables returns ways to all members, and a function that cuts or mends them.
func (c *trio) cables() (hosts []string, cut func(bool)) {
	var all []*cable
	for _, to := range c.hosts() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(c.t, err)
		w := &cable{listener: l, to: to, connections: make(map[net.Conn]bool)}
		c.t.Cleanup(func() { l.Close(); w.set(true) })
		go w.run()
		all, hosts = append(all, w), append(hosts, l.Addr().String())
	}
	return hosts, func(cut bool) {
		for _, w := range all {
			w.set(cut)
		}
	}
}

func (w *cable) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for connection := range w.connections {
		connection.Close()
		delete(w.connections, connection)
	}
}

func (w *cable) run() {
	for {
		here, err := w.listener.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", w.to)
		w.mu.Lock()
		if err != nil || w.cut {
			here.Close()
			if err == nil {
				there.Close()
			}
			w.mu.Unlock()
			continue
		}
		w.connections[here], w.connections[there] = true, true
		w.mu.Unlock()
		pass := func(to, from net.Conn) { _, _ = io.Copy(to, from); to.Close(); from.Close() }
		go pass(here, there)
		go pass(there, here)
	}
}

// openAt returns the coordinator of a folder by some hosts.
func openAt(t *testing.T, root, scheme string, hosts []string, o claim.Options, a etcdaccess.Access) (claim.Coordinator,
	*etcd.Options) {
	t.Helper()
	a.URL = scheme + "://" + strings.Join(hosts, ",")
	settings, err := a.Read()
	check(t, err)
	options := etcd.Options{Options: o, Settings: settings, Timeout: 3 * time.Second}
	c, err := etcd.New(root, options)
	check(t, err)
	options.EnsureDefaults()
	return c, &options
}

func join(t *testing.T, c claim.Coordinator, node string) claim.Session {
	t.Helper()
	s, err := c.Join(t.Context(), claim.Member{Node: node})
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Leave(ctx)
	})
	return s
}

var quick = claim.Options{TTL: 2 * time.Second, Slack: time.Second}

func until(t *testing.T, most time.Duration, what string, done func() bool) time.Duration {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if done() {
			return time.Since(began)
		}
		if time.Since(began) > most {
			t.Fatalf("after %s not yet: %s", most, what)
		}
	}
}

// A leader that is killed costs nobody the lease, and one member that is left alone serves nothing.
func TestLeaderIsKilled(t *testing.T) {
	t.Parallel() // it waits
	c, root := startTrio(t, nil), t.TempDir()
	coordinator, _ := openAt(t, root, "etcd", c.hosts(), claim.Options{TTL: 5 * time.Second, Slack: time.Second},
		etcdaccess.Access{})
	a := join(t, coordinator, "a")
	if _, err := a.Claim(t.Context(), "index"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		leader := c.leader()
		c.stop(leader)
		until(t, 20*time.Second, "another leader", func() bool { return c.leader() >= 0 && c.leader() != leader })
		c.start(leader)
		for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
			if !a.Valid() {
				t.Fatalf("the leader's end cost the lease: %v", a.Err())
			}
		}
	}
	if _, err := a.Claim(t.Context(), "sacks/000"); err != nil {
		t.Error(err)
	}
}

// Without a majority leases are suspended, and hold again when it is back, with the same claims. A process that was cut
// off alone finds that others have claimed, and ends.
func TestNoMajority(t *testing.T) {
	t.Parallel() // it waits
	c, root := startTrio(t, nil), t.TempDir()
	hosts, cut := c.cables()
	of, _ := openAt(t, root, "etcd", hosts, quick, etcdaccess.Access{})
	a := join(t, of, "a")
	other, _ := openAt(t, root, "etcd", c.hosts(), quick, etcdaccess.Access{})
	b := join(t, other, "b")
	first, err := a.Claim(t.Context(), "index")
	check(t, err)
	_, err = b.Claim(t.Context(), "sacks/000")
	check(t, err)
	c.stop(0, 1)
	until(t, 10*time.Second, "both leases are suspended", func() bool { return !a.Valid() && !b.Valid() })
	time.Sleep(3 * quick.TTL)
	for _, s := range []claim.Session{a, b} {
		select {
		case <-s.Done():
			t.Fatalf("a lease was lost while nobody can take over: %v", s.Err())
		default:
		}
	}
	c.start(0, 1)
	t.Logf("hold again after %s", until(t, 15*time.Second, "both hold again",
		func() bool { return a.Valid() && b.Valid() }))
	if holder, err := b.Holder(t.Context(), "index"); err != nil || holder.Epoch != first.Epoch || !holder.Live() {
		t.Errorf("holder afterwards: %+v, %v", holder, err)
	}
	if _, err := b.Claim(t.Context(), "index"); err == nil {
		t.Error("what a suspended process holds was claimed after it went on")
	}
	check(t, a.Release(t.Context(), first)) // and it can give it back
	second, err := a.Claim(t.Context(), "index")
	check(t, err)

	cut(true)
	until(t, 30*time.Second, "the other one has taken over", func() bool {
		taken, err := b.Claim(t.Context(), "index")
		if err == nil && (a.Valid() || taken.Epoch <= second.Epoch) {
			t.Fatalf("taken at epoch %d above %d, while the lease of the first is %v", taken.Epoch, second.Epoch, a.Err())
		}
		return err == nil
	})
	cut(false)
	select {
	case <-a.Done():
	case <-time.After(20 * time.Second):
		t.Error("a process goes on that others have taken over from")
	}
}

// After a compaction changes are still heard of, and claims go on.
func TestCompaction(t *testing.T) {
	t.Parallel() // it waits
	c, root := startTrio(t, nil), t.TempDir()
	hosts, cut := c.cables()
	of, _ := openAt(t, root, "etcd", hosts, quick, etcdaccess.Access{})
	a := join(t, of, "a")
	other, _ := openAt(t, root, "etcd", c.hosts(), quick, etcdaccess.Access{})
	b := join(t, other, "b")
	changed := a.Watch(t.Context())
	client := clientOf(t, c.hosts(), nil)
	cut(true) // what comes meanwhile is forgotten
	for range 20 {
		taken, err := b.Claim(t.Context(), "index")
		check(t, err)
		check(t, b.Release(t.Context(), taken))
	}
	now, err := client.Get(t.Context(), "x")
	check(t, err)
	_, err = client.Compact(t.Context(), now.Header.Revision)
	check(t, err)
	cut(false)
	until(t, 10*time.Second, "the lease holds", a.Valid)
	for len(changed) > 0 {
		<-changed
	}
	taken, err := a.Claim(t.Context(), "index")
	check(t, err)
	check(t, a.Release(t.Context(), taken))
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Error("a change after the compaction is not heard of")
	}
}

func clientOf(t *testing.T, hosts []string, config *tls.Config) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: hosts, DialTimeout: 5 * time.Second, TLS: config})
	check(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

// An etcd whose quota is used up keeps leases, lets nobody claim, and says so.
func TestQuotaIsUsedUp(t *testing.T) {
	t.Parallel() // it waits
	c, root := startTrio(t, func(config *embed.Config) { config.QuotaBackendBytes = 4 << 20 }), t.TempDir()
	of, options := openAt(t, root, "etcd", c.hosts(), quick, etcdaccess.Access{})
	a := join(t, of, "a")
	held, err := a.Claim(t.Context(), "index")
	check(t, err)
	client := clientOf(t, c.hosts(), nil)
	for i := 0; err == nil; i++ {
		_, err = client.Put(t.Context(), fmt.Sprint("junk/", i), strings.Repeat("x", 1<<18))
	}
	if !strings.Contains(err.Error(), "space exceeded") {
		t.Fatal(err)
	}
	time.Sleep(2 * quick.TTL)
	if !a.Valid() {
		t.Errorf("the lease ended: %v", a.Err())
	}
	if _, err := a.Claim(t.Context(), "sacks/000"); err == nil || !strings.Contains(err.Error(), "space exceeded") {
		t.Errorf("a claim: %v", err)
	}
	if _, err := of.Join(t.Context(), claim.Member{Node: "b"}); err == nil || !strings.Contains(err.Error(), "NOSPACE") {
		t.Errorf("a start does not say it: %v", err)
	}
	for _, e := range options.Probe(t.Context()) {
		if !strings.Contains(e.Fault(), "NOSPACE") {
			t.Errorf("%s says %q", e.Address, e.Fault())
		}
	}
	now, err := client.Delete(t.Context(), "junk/", clientv3.WithPrefix())
	check(t, err)
	_, err = client.Compact(t.Context(), now.Header.Revision, clientv3.WithCompactPhysical())
	check(t, err)
	for _, host := range c.hosts() {
		_, err = client.Defragment(t.Context(), host)
		check(t, err)
	}
	_, err = client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	check(t, err)
	until(t, 20*time.Second, "claims go on", func() bool {
		_, err := a.Claim(t.Context(), "sacks/000")
		return err == nil
	})
	check(t, a.Release(t.Context(), held))
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.file, _ = a.write(name, a.cert, a.key)
	return a
}

// sign returns files of a certificate for loopback that ends then.
func (a *authority) sign(name string, ends time.Time) (cert, key string) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(a.t, err)
	return a.write(name, &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: ends,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, own)
}

func (a *authority) write(name string, cert *x509.Certificate, own *ecdsa.PrivateKey) (certFile, keyFile string) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &own.PublicKey, a.key)
	check(a.t, err)
	secret, err := x509.MarshalECPrivateKey(own)
	check(a.t, err)
	certFile, keyFile = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	check(a.t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(a.t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	return certFile, keyFile
}

// With certificates and a password claims work; each that is wrong ends the start with words that name it.
func TestSecured(t *testing.T) {
	t.Parallel() // it waits
	own, stranger := newAuthority(t, "own"), newAuthority(t, "stranger")
	serverCert, serverKey := own.sign("server", time.Now().Add(time.Hour))
	c, root := startTrio(t, func(config *embed.Config) {
		config.ClientTLSInfo = transport.TLSInfo{CertFile: serverCert, KeyFile: serverKey, TrustedCAFile: own.file,
			ClientCertAuth: true}
	}), t.TempDir()
	cert, key := own.sign("root", time.Now().Add(time.Hour))
	login := filepath.Join(t.TempDir(), "login")
	check(t, os.WriteFile(login, []byte("gnocco:right\n"), 0o600))
	good := etcdaccess.Access{CA: own.file, Certificate: cert, Key: key, Login: login}

	open := good
	open.URL, open.Login = "etcds://"+strings.Join(c.hosts(), ","), ""
	admin, err := open.Read()
	check(t, err)
	client := clientOf(t, admin.Endpoints, admin.TLS)
	ctx := t.Context()
	_, err = client.RoleAdd(ctx, "gnocco")
	check(t, err)
	_, err = client.RoleGrantPermission(ctx, "gnocco", "/gnocco/", clientv3.GetPrefixRangeEnd("/gnocco/"),
		clientv3.PermissionType(clientv3.PermReadWrite))
	check(t, err)
	for user, role := range map[string]string{"root": "root", "gnocco": "gnocco"} {
		_, err = client.UserAdd(ctx, user, "right")
		check(t, err)
		_, _ = client.RoleAdd(ctx, "root")
		_, err = client.UserGrantRole(ctx, user, role)
		check(t, err)
	}
	_, err = client.AuthEnable(ctx)
	check(t, err)

	coordinator, _ := openAt(t, root, "etcds", c.hosts(), quick, good)
	a := join(t, coordinator, "a")
	if _, err := a.Claim(ctx, "index"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * quick.TTL)
	for end := time.Now().Add(time.Minute); !a.Valid(); time.Sleep(quick.TTL / 20) { // it may be suspended
		if err := a.Err(); err != nil && !errors.Is(err, claim.ErrSuspended) || time.Now().After(end) {
			t.Fatalf("the lease ended: %v", err)
		}
	}

	expiredCert, expiredKey := own.sign("expired", time.Now().Add(-time.Hour))
	strangeCert, strangeKey := stranger.sign("root", time.Now().Add(time.Hour))
	wrong := filepath.Join(t.TempDir(), "wrong")
	check(t, os.WriteFile(wrong, []byte("gnocco:wrong\n"), 0o600))
	for _, f := range []struct {
		name, scheme, want string
		change             func(*etcdaccess.Access)
	}{
		{"another authority", "etcds", "unknown authority", func(a *etcdaccess.Access) { a.CA = stranger.file }},
		{"the system's authorities", "etcds", "unknown authority", func(a *etcdaccess.Access) { a.CA = "" }},
		{"an expired certificate", "etcds", "expired", func(a *etcdaccess.Access) {
			a.Certificate, a.Key = expiredCert, expiredKey
		}},
		{"a stranger's certificate", "etcds", "refuses this process's certificate", func(a *etcdaccess.Access) {
			a.Certificate, a.Key = strangeCert, strangeKey
		}},
		{"no certificate", "etcds", "refuses this process's certificate", func(a *etcdaccess.Access) {
			a.Certificate, a.Key = "", ""
		}},
		{"a wrong password", "etcds", "invalid user ID or password", func(a *etcdaccess.Access) { a.Login = wrong }},
		{"no TLS", "etcd", "", func(a *etcdaccess.Access) { *a = etcdaccess.Access{} }},
	} {
		t.Run(f.name, func(t *testing.T) {
			access := good
			f.change(&access)
			access.URL = f.scheme + "://" + strings.Join(c.hosts(), ",")
			settings, err := access.Read()
			if err == nil {
				var coordinator claim.Coordinator
				coordinator, err = etcd.New(root,
					etcd.Options{Options: quick, Settings: settings, Timeout: 3 * time.Second})
				check(t, err)
				_, err = coordinator.Join(t.Context(), claim.Member{Node: "b"})
			}
			if err == nil || !strings.Contains(err.Error(), f.want) {
				t.Errorf("the start says %v", err)
			}
		})
	}
}

// networkDisk hides that the data folder is on the machine's own disk: a takeover waits for the slack.
type networkDisk struct{ vfs.FS }

func (networkDisk) Unwrap() vfs.FS { return nil }

// With the shipped options another process has taken over 12 s after one is cut off at any time of its beat.
func TestTakeoverTakesTwelveSeconds(t *testing.T) {
	for _, phase := range []time.Duration{0, 400 * time.Millisecond, 900 * time.Millisecond} {
		t.Run(phase.String(), func(t *testing.T) {
			t.Parallel()
			c, root := startTrio(t, nil), t.TempDir()
			shipped := claim.Options{TTL: etcdaccess.LeaseTTL, FS: networkDisk{vfs.Default}}
			hosts, cut := c.cables()
			of, _ := openAt(t, root, "etcd", hosts, shipped, etcdaccess.Access{})
			a := join(t, of, "a")
			other, _ := openAt(t, root, "etcd", c.hosts(), shipped, etcdaccess.Access{})
			b := join(t, other, "b")
			_, err := a.Claim(t.Context(), "index")
			check(t, err)
			time.Sleep(2*time.Second + phase)
			cut(true)
			took := until(t, 30*time.Second, "the other one has taken over", func() bool {
				_, err := b.Claim(t.Context(), "index")
				return err == nil
			})
			if t.Logf("took %.1f s", took.Seconds()); took > 12*time.Second {
				t.Errorf("taken over after %s", took)
			}
			cut(false)
		})
	}
}
