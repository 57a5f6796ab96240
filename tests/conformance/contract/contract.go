package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// Contract is a description in OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
type Contract struct {
	prefix   string
	document any
	router   *chi.Mux

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by location in the document
}

// location is the document's name inside the compiler.
const location = "openapi.yaml"

// restOfPath is the parameter of several parts of a path, which OpenAPI cannot say.
const restOfPath = "{group}"

// New reads a description. Requests may also come below prefix.
func New(description []byte, prefix string) (*Contract, error) {
	var document any
	if err := yaml.Unmarshal(description, &document); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	plain, err := json.Marshal(document) // numbers become those that the validator knows
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if document, err = jsonschema.UnmarshalJSON(bytes.NewReader(plain)); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	c := &Contract{prefix: prefix, document: document, router: chi.NewMux(),
		schemas: make(map[string]*jsonschema.Schema)}
	c.compiler = jsonschema.NewCompiler()
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	for _, o := range c.Operations() {
		c.router.MethodFunc(o.Method, strings.Replace(o.Path, restOfPath, "*", 1), func(http.ResponseWriter, *http.Request) {})
	}
	return c, nil
}

// Operation is a method of a path.
type Operation struct{ Method, Path string }

// Operations lists what is described.
func (c *Contract) Operations() []Operation {
	var operations []Operation
	paths, _ := c.find("paths")
	for _, path := range slices.Sorted(maps.Keys(object(paths))) {
		item, _ := c.find("paths", path)
		for _, method := range slices.Sorted(maps.Keys(object(item))) {
			if upper := strings.ToUpper(method); method != "parameters" {
				operations = append(operations, Operation{upper, path})
			}
		}
	}
	return operations
}

// Parameters lists the names of o's parameters, in "path", "query" or "header".
func (c *Contract) Parameters(o Operation, in string) []string {
	var names []string
	for _, at := range [][]string{{"paths", o.Path}, {"paths", o.Path, strings.ToLower(o.Method)}} {
		list, where := c.find(append(at, "parameters")...)
		items, _ := list.([]any)
		for i := range items {
			parameter, _ := c.find(append(slices.Clip(where), strconv.Itoa(i))...)
			if p := object(parameter); p["in"] == in {
				names = append(names, p["name"].(string))
			}
		}
	}
	return names
}

// BodyTypes lists the content types of o's body, if it has one.
func (c *Contract) BodyTypes(o Operation) []string {
	content, _ := c.find("paths", o.Path, strings.ToLower(o.Method), "requestBody", "content")
	return slices.Sorted(maps.Keys(object(content)))
}

// object returns node as an object, empty if it is none.
func object(node any) map[string]any {
	members, _ := node.(map[string]any)
	return members
}

// find goes down from the root, and follows each $ref on its way; it returns the node, nil for none, and where it lies.
func (c *Contract) find(steps ...string) (any, []string) {
	node, where := c.document, []string(nil)
	for i := 0; ; i++ {
		if ref, ok := object(node)["$ref"].(string); ok {
			target := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
			node, where = c.find(target...)
		}
		if i == len(steps) {
			return node, where
		}
		where = append(slices.Clip(where), steps[i])
		switch parent := node.(type) {
		case map[string]any:
			node = parent[steps[i]]
		case []any:
			n, err := strconv.Atoi(steps[i])
			if err != nil || n >= len(parent) {
				return nil, where
			}
			node = parent[n]
		default:
			return nil, where
		}
	}
}

// Exchange is a request and its answer.
type Exchange struct {
	Method  string
	URL     *url.URL
	Request http.Header
	Body    []byte // of the request

	Status int
	Answer http.Header
	Result []byte // body of the answer
}

// Match returns the operation that a request is for; false for none.
func (c *Contract) Match(method string, target *url.URL) (Operation, bool) {
	steps := strings.Split(target.EscapedPath(), "/")
	for i, step := range steps {
		if plain, err := url.PathUnescape(step); err == nil {
			steps[i] = url.PathEscape(plain) // only what has to be escaped
		}
	}
	path := strings.Join(slices.DeleteFunc(steps, func(step string) bool { return step == "." }), "/")
	if c.prefix != "" && (path == c.prefix || strings.HasPrefix(path, c.prefix+"/")) {
		path = path[len(c.prefix):]
	}
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 && path != "/v1/" {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	route := chi.NewRouteContext()
	if !c.router.Match(route, method, path) {
		return Operation{}, false
	}
	pattern := strings.Join(route.RoutePatterns, "")
	return Operation{method, strings.Replace(pattern, "*", restOfPath, 1)}, true
}

// Check returns how an exchange breaks the contract. An OPTIONS request is CORS' business, not the API's.
func (c *Contract) Check(x *Exchange) error {
	if x.Method == http.MethodOptions {
		return nil
	}
	o, ok := c.Match(x.Method, x.URL)
	if !ok {
		if x.Status != http.StatusNotFound && x.Status != http.StatusMethodNotAllowed {
			return fmt.Errorf("status %d of what is not described", x.Status)
		}
		return c.checkBody(x.Answer, x.Result, []string{"components", "responses", "Error"})
	}
	answer, where := c.find("paths", o.Path, strings.ToLower(o.Method), "responses", strconv.Itoa(x.Status))
	if answer == nil {
		return fmt.Errorf("status %d is not described", x.Status)
	}
	var faults []error
	headers, _ := c.find(append(slices.Clip(where), "headers")...)
	for name := range object(headers) {
		header, _ := c.find(append(slices.Clip(where), "headers", name)...)
		if object(header)["required"] == true && x.Answer.Get(name) == "" {
			faults = append(faults, fmt.Errorf("header %s is missing", name))
		}
	}
	if x.Method != http.MethodHead {
		faults = append(faults, c.checkBody(x.Answer, x.Result, where))
	}
	// A GET's body is not looked at, and a body without a type counts as one of the required type.
	accepted := x.Status >= 200 && x.Status < 300
	if accepted && len(x.Body) > 0 && x.Method != http.MethodGet && x.Request.Get("Content-Type") != "" {
		where := []string{"paths", o.Path, strings.ToLower(o.Method), "requestBody"}
		if err := c.checkBody(x.Request, x.Body, where); err != nil {
			faults = append(faults, fmt.Errorf("the accepted request: %w", err))
		}
	}
	return errors.Join(faults...)
}

// checkBody checks a body by the description at where: a response or requestBody.
func (c *Contract) checkBody(header http.Header, body []byte, where []string) error {
	content, where := c.find(append(slices.Clip(where), "content")...)
	if len(object(content)) == 0 {
		if len(bytes.TrimSpace(body)) > 0 {
			return fmt.Errorf("a body of %d bytes is not described", len(body))
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if object(content)["*/*"] != nil {
		return nil
	}
	if err != nil || object(content)[kind] == nil {
		return fmt.Errorf("content type %q is not described", header.Get("Content-Type"))
	}
	if !strings.HasSuffix(kind, "/json") && !strings.HasSuffix(kind, "+json") {
		return nil
	}
	value, err := decode(body)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	schema, err := c.schema(append(slices.Clip(where), kind, "schema"))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	return nil
}

// schema returns the compiled schema that lies at where.
func (c *Contract) schema(where []string) (*jsonschema.Schema, error) {
	escaped := make([]string, len(where))
	for i, step := range where {
		escaped[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
	}
	at := location + (&url.URL{Fragment: "/" + strings.Join(escaped, "/")}).String()
	c.mu.Lock()
	defer c.mu.Unlock()
	if schema := c.schemas[at]; schema != nil {
		return schema, nil
	}
	schema, err := c.compiler.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	c.schemas[at] = schema
	return schema, nil
}

// decode reads JSON in which NaN and infinities may stand bare.
func decode(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(withoutNaN(body)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return value, nil
}

// withoutNaN puts a number in the place of each NaN, Infinity and -Infinity outside of texts.
func withoutNaN(body []byte) []byte {
	if !bytes.Contains(body, []byte("NaN")) && !bytes.Contains(body, []byte("Infinity")) {
		return body
	}
	plain := make([]byte, 0, len(body))
	for text := false; len(body) > 0; {
		n := 1
		switch {
		case body[0] == '"':
			text = !text
		case text && body[0] == '\\' && len(body) > 1:
			n = 2
		case !text && bytes.HasPrefix(body, []byte("NaN")):
			plain, body = append(plain, '0'), body[3:]
			continue
		case !text && bytes.HasPrefix(body, []byte("Infinity")):
			plain, body = append(plain, '1'), body[8:]
			continue
		}
		plain, body = append(plain, body[:n]...), body[n:]
	}
	return plain
}
