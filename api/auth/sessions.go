package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Sessions is an Authenticator for browsers. It accepts the credentials of the one that it wraps and, in their place, a
// cookie: the user went through Begin with them before. The cookie is sealed with a secret that the processes of a
// cluster share, so no process stores sessions. Decision 0098 has the reasons.
type Sessions struct {
	Authenticator
	keeper keeper
	seal   cipher.AEAD
	cookie string // its name, another for each secret: cookies of servers on one host lie side by side
	now    func() time.Time
}

// keeper is an Authenticator whose users can have sessions.
type keeper interface {
	Authenticator

	// keep returns the content of a session for the credentials of r, which was authenticated.
	keep(r *http.Request) string

	// resume returns the user of a session while the credentials are valid. Its error is ErrNoCredentials unless the
	// check itself failed.
	resume(r *http.Request, kept string) (*Identity, error)
}

const (
	// sessionHeader has to stand beside the cookie. A page of another origin cannot set it, as CORS does not grant it.
	sessionHeader = "X-Gnocco-Session"

	sessionTime  = 7 * 24 * time.Hour
	maxKeptBytes = 2800 // browsers drop cookies above 4096, and base64 takes a third more
	sessionEnd   = 8    // bytes of the end, seconds since 1970, before what is kept
)

// NewSessions returns an Authenticator with sessions, or the wrapped one where a proxy authenticates or no password is
// checked. The secret has 32 bytes.
func NewSessions(wrapped Authenticator, secret []byte, now func() time.Time) (Authenticator, error) {
	k, ok := wrapped.(keeper)
	if !ok {
		return wrapped, nil
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(secret)
	return &Sessions{wrapped, k, seal, "gnocco_session_" + hex.EncodeToString(digest[:4]), now}, nil
}

// Authenticate implements Authenticator. Credentials in headers come first.
func (s *Sessions) Authenticate(r *http.Request) (*Identity, error) {
	if hasCredentials(r) {
		return s.Authenticator.Authenticate(r)
	}
	cookie, err := r.Cookie(s.cookie)
	if err != nil || r.Header.Get(sessionHeader) == "" {
		return nil, ErrNoCredentials
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return nil, ErrNoCredentials
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return nil, ErrNoCredentials
	}
	content, err := s.seal.Open(nil, nil, sealed, s.purpose())
	if err != nil || len(content) < sessionEnd {
		return nil, ErrNoCredentials
	}
	if end := binary.BigEndian.Uint64(content); s.now().Unix() >= int64(end) {
		return nil, ErrNoCredentials
	}
	return s.keeper.resume(r, string(content[sessionEnd:]))
}

// Begin returns the cookie of a new session for the credentials in r's headers, which were authenticated. Path and
// Secure are up to the caller. The error is for the client.
func (s *Sessions) Begin(r *http.Request) (*http.Cookie, error) {
	if !hasCredentials(r) {
		return nil, errors.New("a session begins with credentials in a header")
	}
	kept := s.keeper.keep(r)
	if len(kept) > maxKeptBytes {
		return nil, fmt.Errorf("the credentials have %d bytes, and a cookie holds %d", len(kept), maxKeptBytes)
	}
	content := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(sessionTime).Unix()))
	sealed := s.seal.Seal(nil, nil, append(content, kept...), s.purpose())
	return s.bake(base64.RawURLEncoding.EncodeToString(sealed), int(sessionTime/time.Second)), nil
}

// End returns a cookie that removes that of a session.
func (s *Sessions) End() *http.Cookie { return s.bake("", -1) }

// hasCredentials reports whether a header has credentials.
func hasCredentials(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || r.Header.Get("X-Auth-Token") != ""
}

func (s *Sessions) bake(value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: s.cookie, Value: value, MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// purpose is authenticated beside the content: a cookie of another mode is invalid.
func (s *Sessions) purpose() []byte { return []byte("session of " + string(s.Credentials())) }
