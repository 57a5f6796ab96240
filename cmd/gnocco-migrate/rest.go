package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keystone"
	"github.com/gnocco-db/gnocco/model"
)

// restSource is a Gnocchi, or a Gnocco, by its REST API. It sends nothing but GETs.
type restSource struct {
	base           string
	user, password string
	token          string
	tokens         *keystone.Tokens // nil: requests have no token of Keystone
	http           *http.Client
	limit          *rateLimit
}

func newREST(base string, a *access) (*restSource, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address of the server is not an http URL")
	}
	s := &restSource{user: a.user, password: a.password, token: a.token, limit: newRateLimit(a.rate)}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
		u.User = nil
	}
	s.base = strings.TrimRight(u.String(), "/")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	s.http = &http.Client{Transport: transport, Timeout: 5 * time.Minute}
	if s.token == "" && s.user == "" && a.keystoneURL != "" {
		tokens, err := keystone.TokensURL(a.keystoneURL)
		if err != nil {
			return nil, err
		}
		s.tokens = keystone.NewTokens(tokens, a.account, s.http)
	}
	if s.user == "" {
		s.user = "admin"
	}
	return s, nil
}

func (s *restSource) close() error { return nil }

// changed implements source: the API does not tell.
func (s *restSource) changed(*model.Metric, time.Time) bool { return true }

// statusError is an answer of 400 and above.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

const (
	tries      = 6
	firstPause = 200 * time.Millisecond
)

// get returns the body of an answer, and the query of the page that follows, "" for none. A server that is busy or not
// reached is asked again, and so is one that does not take Keystone's token any more, with another one.
func (s *restSource) get(ctx context.Context, path string) (body []byte, next string, err error) {
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		if err := s.limit.wait(ctx); err != nil {
			return nil, "", err
		}
		token, err := s.authToken(ctx, "")
		if err == nil {
			body, next, err = s.getOnce(ctx, path, token)
		}
		var status *statusError
		if s.tokens != nil && errors.As(err, &status) && status.status == http.StatusUnauthorized {
			if token, err = s.authToken(ctx, token); err == nil {
				body, next, err = s.getOnce(ctx, path, token)
			}
		}
		if err == nil || ctx.Err() != nil || try == tries || refused(err) {
			return body, next, err
		}
		select {
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-time.After(pause):
		}
	}
}

// refused reports whether asking again is of no use.
func refused(err error) bool {
	var answer *statusError
	var token *keystone.StatusError
	status := 0
	switch {
	case errors.As(err, &answer):
		status = answer.status
	case errors.As(err, &token):
		status = token.Status
	}
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests
}

// authToken returns the token to ask with, "" for none; refused is one that the server did not take.
func (s *restSource) authToken(ctx context.Context, refused string) (string, error) {
	if s.tokens == nil {
		return s.token, nil
	}
	return s.tokens.Get(ctx, time.Now(), refused)
}

// getOnce asks once, with a token or, if that is "", as the user.
func (s *restSource) getOnce(ctx context.Context, path, token string) (body []byte, next string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, "", err
	}
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	} else {
		request.SetBasicAuth(s.user, s.password)
	}
	request.Header.Set("Accept", "application/json")
	response, err := s.http.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, "", fmt.Errorf("GET %s: %w", path, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		text := strings.TrimSpace(string(body[:min(len(body), 300)]))
		return nil, "", &statusError{response.StatusCode, fmt.Sprintf("GET %s: %s: %s", path, response.Status, text)}
	}
	return body, nextPage(response.Header.Values("Link")), nil
}

// nextPage returns the query of the link to the next page, "" if there is none.
func nextPage(links []string) string {
	for _, link := range links {
		address, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(link), "<"), ">")
		if ok && strings.Contains(rest, `rel="next"`) {
			if u, err := url.Parse(address); err == nil {
				return u.RawQuery
			}
		}
	}
	return ""
}

// getAll calls f with the items of all pages of a list.
func getAll[T any](ctx context.Context, s *restSource, path, query string, f func(*T) error) error {
	for {
		address := path
		if query != "" {
			address += "?" + query
		}
		body, next, err := s.get(ctx, address)
		if err != nil {
			return err
		}
		var items []T
		if err := json.Unmarshal(body, &items); err != nil {
			return fmt.Errorf("GET %s: %w", address, err)
		}
		for i := range items {
			if err := f(&items[i]); err != nil {
				return fmt.Errorf("GET %s: %w", address, err)
			}
		}
		if next == "" || len(items) == 0 {
			return nil
		}
		query = next
	}
}

// definitions implements source.
func (s *restSource) definitions(ctx context.Context) (*definitions, error) {
	d := new(definitions)
	policies := make(map[string]*model.ArchivePolicy)
	err := getAll(ctx, s, "/v1/archive_policy", "", func(p *policyJSON) error {
		policy, err := p.model()
		if err == nil {
			d.policies, policies[policy.Name] = append(d.policies, policy), policy
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = getAll(ctx, s, "/v1/archive_policy_rule", "", func(r *ruleJSON) error {
		d.rules = append(d.rules, r.model())
		return nil
	})
	if err != nil {
		return nil, err
	}
	kinds := map[string]*model.ResourceType{model.GenericType: model.GenericResourceType()}
	err = getAll(ctx, s, "/v1/resource_type", "", func(k *typeJSON) error {
		if k.Name == model.GenericType {
			return nil
		}
		kind, err := k.model()
		if err == nil {
			d.types, kinds[kind.Name] = append(d.types, kind), kind
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	states := make(map[uuid.UUID][]*model.Resource)
	err = getAll(ctx, s, "/v1/resource/generic", "details=true&history=true&limit=1000", func(r *map[string]any) error {
		state, err := resourceOf(*r, kinds)
		if err == nil {
			states[state.ID] = append(states[state.ID], state)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d.resources = withPast(states)
	err = getAll(ctx, s, "/v1/metric", "limit=1000", func(m *metricJSON) error {
		metric, err := m.model(policies)
		if err == nil {
			d.metrics = append(d.metrics, metric)
		}
		return err
	})
	return d, err
}

// withPast puts the states of each resource in order. One whose live state was not met, since it changed while the list
// was read, is left to the next pass.
func withPast(states map[uuid.UUID][]*model.Resource) (all []*resource) {
	for _, its := range states {
		slices.SortFunc(its, func(a, b *model.Resource) int { return cmp.Compare(a.RevisionStart, b.RevisionStart) })
		its = slices.CompactFunc(its, func(a, b *model.Resource) bool { return a.RevisionStart == b.RevisionStart })
		n := len(its) - 1
		if its[n].RevisionEnd == nil {
			all = append(all, &resource{its[n], its[:n]})
		}
	}
	slices.SortFunc(all, func(a, b *resource) int { return slices.Compare(a.live.ID[:], b.live.ID[:]) })
	return all
}

// archive implements source.
func (s *restSource) archive(ctx context.Context, m *model.Metric, since carbonara.Timestamp) (*archived, error) {
	a := &archived{aggregates: make(map[time.Duration]map[carbonara.Method]series)}
	for _, g := range m.ArchivePolicy.Granularities() {
		a.aggregates[g] = make(map[carbonara.Method]series)
	}
	for _, method := range m.ArchivePolicy.Methods() {
		all, err := s.measures(ctx, m.ID, method, since)
		if err != nil {
			return nil, err
		}
		for g, its := range all {
			if a.aggregates[g] == nil {
				continue // the policy changed meanwhile
			}
			a.aggregates[g][method] = *its
		}
	}
	return a, nil
}

// measures returns the aggregates of a method by granularity.
func (s *restSource) measures(ctx context.Context, id uuid.UUID, method carbonara.Method, since carbonara.Timestamp) (
	map[time.Duration]*series, error) {
	path := "/v1/metric/" + id.String() + "/measures?aggregation=" + url.QueryEscape(method.String())
	if since > 0 {
		path += "&start=" + url.QueryEscape(string(model.AppendTimestamp(nil, since)))
	}
	body, _, err := s.get(ctx, path)
	var status *statusError
	if errors.As(err, &status) && status.status == http.StatusNotFound {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	all, err := parseMeasures(body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	return all, nil
}

// backlog implements source.
func (s *restSource) backlog(ctx context.Context) (int, error) {
	body, _, err := s.get(ctx, "/v1/status?details=false")
	if err != nil {
		return 0, err
	}
	var status struct {
		Storage struct {
			Summary struct{ Measures int }
		}
	}
	err = json.Unmarshal(bytes.TrimSpace(body), &status)
	return status.Storage.Summary.Measures, err
}
