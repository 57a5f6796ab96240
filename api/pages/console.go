package pages

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/static"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/console"
)

// consolePolicy lets the console load from where it comes from only.
const consolePolicy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// consolePage is the name of the console's page among its files.
const consolePage = "index.html"

// consoleFiles returns the console's files by name. Its page contains the kind of credentials that the login form asks
// for: a script that requests it first would begin later.
func consoleFiles(credentials auth.Credentials) map[string]*static.File {
	entries, err := console.Files.ReadDir("dist")
	if err != nil {
		panic("api: " + err.Error()) // it is embedded
	}
	said := fmt.Appendf(nil, "data-credentials=%q", string(credentials))
	files := make(map[string]*static.File, len(entries))
	for _, entry := range entries {
		content, err := console.Files.ReadFile("dist/" + entry.Name())
		if err != nil {
			panic("api: " + err.Error())
		}
		create := static.New
		switch {
		case entry.Name() == consolePage:
			content = bytes.Replace(content, []byte(`data-credentials=""`), said, 1)
		case hashed.MatchString(entry.Name()):
			create = static.NewImmutable
		}
		files[entry.Name()] = create(fileType(entry.Name()), consolePolicy, content)
	}
	return files
}

// hashed matches the names of built files, which contain the hash of their content.
var hashed = regexp.MustCompile(`-[A-Z0-9]{8}\.[a-z]+$`)

func fileType(name string) string {
	switch ending := path.Ext(name); ending {
	case ".js": // as the machine's own table may have it otherwise
		return "text/javascript; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ending)
	}
}

// console serves the console to everyone: it reads all data through the API. Most processes never serve it, so the
// first request reads its files.
func (a *Handlers) console(page func(path string, h http.HandlerFunc)) {
	files := sync.OnceValue(func() map[string]*static.File { return consoleFiles(a.Auth.Credentials()) })
	page("/ui", a.Public(func(w http.ResponseWriter, r *http.Request) error {
		return getConsole(w, r, files()[consolePage])
	}))
	page("/ui/{file}", a.Public(func(w http.ResponseWriter, r *http.Request) error { return serveFile(w, r, files()) }))
}

// getConsole serves the console's page, whose links are relative to /ui/.
func getConsole(w http.ResponseWriter, r *http.Request, index *static.File) error {
	if !strings.HasSuffix(r.URL.Path, "/") {
		w.Header().Set("Location", "ui/")
		web.WriteBody(w, http.StatusFound, nil)
		return nil
	}
	index.ServeHTTP(w, r)
	return nil
}

// consoleForBrowsers sends a client that names text/html among what it accepts, and not application/json, to the
// console. The place is relative, and so right below any prefix and behind any proxy.
func consoleForBrowsers(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !namesType(r, "text/html") || namesType(r, "application/json") {
			next(w, r)
			return
		}
		_, last := path.Split(r.URL.Path)
		w.Header().Set("Location", strings.TrimPrefix(last+"/ui/", "/"))
		web.WriteBody(w, http.StatusFound, nil)
	}
}

// namesType reports whether the client's Accept header names a type.
func namesType(r *http.Request, name string) bool {
	for item := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		kind, parameters, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(kind), name) && web.Quality(parameters) > 0 {
			return true
		}
	}
	return false
}

// getAuthentication tells those who are about to sign in what they are asked for.
func (a *Handlers) getAuthentication(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, struct {
		Credentials string `json:"credentials"`
	}{string(a.Auth.Credentials())})
}
