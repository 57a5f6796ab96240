package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Htpasswd checks user and password of the Authorization header against a file of lines "user:bcrypt hash", as
// Apache's "htpasswd -B" writes it. After a second colon there may be roles, with commas between them. User "admin" has
// the admin role in any case. The file is read again when it changes.
type Htpasswd struct {
	path   string
	logger *slog.Logger
	now    func() time.Time
	secret []byte        // keys what is remembered
	turns  chan struct{} // bcrypt takes a core for long: one at a time for each
	failed failedLogins
	proxy  bool // whether proxies name the client
	// passed holds, by user and password, the hash that the password was found to fit.
	passed expiringCache[[sha256.Size]byte, string]

	mu      sync.Mutex
	users   map[string]htpasswdUser // replaced, not modified
	most    int                     // cost among their hashes
	checked time.Time               // when the file was looked at
	seen    os.FileInfo             // as it was when users was read
}

type htpasswdUser struct {
	hash     string
	identity *Identity
}

// HtpasswdOptions configure an Htpasswd.
type HtpasswdOptions struct {
	File   string
	Logger *slog.Logger     // hears of a file that can no longer be read; nil: discard
	Now    func() time.Time // nil: time.Now

	ProxyHeaders bool // believe Forwarded and X-Forwarded-For, by which failed logins are slowed
}

const (
	htpasswdCheckInterval = time.Second
	htpasswdCacheTime     = 5 * time.Minute
	htpasswdCacheSize     = 10_000
)

// NewHtpasswd reads the file. The error lists every fault in it.
func NewHtpasswd(o HtpasswdOptions) (*Htpasswd, error) {
	h := &Htpasswd{
		path: o.File, logger: o.Logger, now: o.Now, proxy: o.ProxyHeaders,
		secret: make([]byte, 32), turns: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	h.logger = cmp.Or(h.logger, slog.New(slog.DiscardHandler))
	if h.now == nil {
		h.now = time.Now
	}
	h.failed.now, h.failed.addresses = h.now, map[netip.Prefix]*loginAddress{}
	_, _ = rand.Read(h.secret) // never fails
	h.passed.init(htpasswdCacheTime, htpasswdCacheSize)
	h.checked = h.now()
	if err := h.read(); err != nil {
		return nil, err
	}
	return h, nil
}

// Authenticate implements Authenticator.
func (h *Htpasswd) Authenticate(r *http.Request) (*Identity, error) {
	name, password, ok := basicCredentials(r)
	if !ok {
		return nil, ErrNoCredentials
	}
	user, known := h.user(name)
	mac := hmac.New(sha256.New, h.secret)
	mac.Write([]byte(name + "\x00" + password))
	key := [sha256.Size]byte(mac.Sum(nil))
	passed := func() bool {
		hash, ok := h.passed.get(key, h.now())
		return ok && known && hash == user.hash
	}
	if passed() {
		h.passed.renew(key, h.now()) // it stays good while others guess at the same address
		return user.identity, nil
	}
	leave, err := h.failed.enter(r.Context(), clientAddress(r, h.proxy))
	if err != nil {
		return nil, err
	}
	if passed() { // many connections of a client begin at once
		leave(false)
		return user.identity, nil
	}
	err = h.compare(r.Context(), user.hash, password)
	leave(errors.Is(err, ErrNoCredentials))
	if err != nil {
		return nil, err
	}
	h.passed.put(key, user.hash, h.now(), time.Time{})
	return user.identity, nil
}

// keep implements keeper: the user's name, and a digest of the password's record. The password is not kept.
func (h *Htpasswd) keep(r *http.Request) string {
	name, _, _ := basicCredentials(r)
	user, _ := h.user(name)
	return user.record() + name
}

// resume implements keeper: the user goes on until the record changes.
func (h *Htpasswd) resume(_ *http.Request, kept string) (*Identity, error) {
	if len(kept) < sha256.Size {
		return nil, ErrNoCredentials
	}
	user, known := h.user(kept[sha256.Size:])
	if !known || user.record() != kept[:sha256.Size] {
		return nil, ErrNoCredentials
	}
	return user.identity, nil
}

// record is a digest of the line's hash.
func (u *htpasswdUser) record() string {
	digest := sha256.Sum256([]byte(u.hash))
	return string(digest[:])
}

// compare waits for its turn and checks a password. An unknown user has no hash. A wrong password takes as long for
// every name, so that time does not tell users: as long as the most costly hash of the file takes. A cost is a power of
// two: one hash of the user's own cost c and others of c, c+1 … m-1 take as long as one of the cost m.
func (h *Htpasswd) compare(ctx context.Context, hash, password string) error {
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.turns }()
	h.mu.Lock()
	most := h.most
	h.mu.Unlock()
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil {
		_, _ = bcrypt.GenerateFromPassword([]byte("stranger"), most) // takes its time
		return ErrNoCredentials
	}
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil {
		return nil
	}
	for ; cost < most; cost++ {
		_, _ = bcrypt.GenerateFromPassword([]byte("stranger"), cost)
	}
	return ErrNoCredentials
}

func (*Htpasswd) Open() bool               { return false }
func (*Htpasswd) Challenge() string        { return `Basic realm="gnocco", charset="UTF-8"` }
func (*Htpasswd) Credentials() Credentials { return NamePassword }

// user finds a user in the file as it is now. A file that became unreadable leaves the users as they were.
func (h *Htpasswd) user(name string) (htpasswdUser, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); now.Sub(h.checked) >= htpasswdCheckInterval {
		h.checked = now
		info, err := os.Stat(h.path)
		if err == nil && (info.ModTime() != h.seen.ModTime() || info.Size() != h.seen.Size() ||
			!os.SameFile(info, h.seen)) {
			err = h.read()
		}
		if err != nil {
			h.logger.Error("the password file cannot be read: users stay as they were", "file", h.path, "error", err)
		}
	}
	user, ok := h.users[name]
	return user, ok
}

// read replaces the users by those of the file. The caller holds mu, or nobody else has h yet.
func (h *Htpasswd) read() error {
	info, err := os.Stat(h.path)
	if err != nil {
		return fmt.Errorf("auth: password file: %w", err)
	}
	text, err := os.ReadFile(h.path)
	if err != nil {
		return fmt.Errorf("auth: password file: %w", err)
	}
	users, err := parseHtpasswd(text)
	if err != nil {
		return fmt.Errorf("auth: password file %s: %w", h.path, err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		h.logger.Warn("the password file may be read by every user of this machine: chmod 640 it, or less", "file",
			h.path, "mode", info.Mode().Perm().String())
	}
	h.users, h.seen, h.most = users, info, bcrypt.MinCost
	for _, user := range users {
		if cost, err := bcrypt.Cost([]byte(user.hash)); err == nil {
			h.most = max(h.most, cost)
		}
	}
	return nil
}

func parseHtpasswd(text []byte) (map[string]htpasswdUser, error) {
	users := map[string]htpasswdUser{}
	var faults []error
	number := 0
	for line := range bytes.Lines(text) {
		number++
		entry := strings.TrimSpace(string(line))
		if entry == "" || entry[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(entry, ":")
		hash, roleList, _ := strings.Cut(rest, ":")
		_, err := bcrypt.Cost([]byte(hash))
		_, twice := users[name]
		switch {
		case !ok || name == "":
			faults = append(faults, fmt.Errorf("line %d: not of the form user:hash", number))
			continue
		case err != nil:
			faults = append(faults,
				fmt.Errorf("line %d: the password of %s is not hashed by bcrypt (htpasswd -B)", number, name))
			continue
		case twice:
			faults = append(faults, fmt.Errorf("line %d: user %s for the second time", number, name))
			continue
		}
		roles := userRoles(name)
		for role := range strings.SplitSeq(roleList, ",") {
			if role = strings.TrimSpace(role); role != "" {
				roles = append(roles, role)
			}
		}
		users[name] = htpasswdUser{hash, newUser(name, roles...)}
	}
	return users, errors.Join(faults...)
}
