//go:build !js

package review

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/front"
)

// Server serves a session to one browser on this machine.
type Server struct {
	session *Session
	token   string
	address string // host and port
	page    []byte
	listen  net.Listener
}

// NewServer listens on a port of 127.0.0.1, or on a free one for 0. It serves once Serve is
// called, and has to be closed.
func NewServer(s *Session, port int) (*Server, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("port %d of this machine cannot be used: %w; give another by --port, or none", port, err)
	}
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // never fails
	v := &Server{session: s, token: base64.RawURLEncoding.EncodeToString(secret), address: l.Addr().String(), listen: l}
	t, err := template.New("review").Parse(front.ReviewHTML)
	if err == nil {
		var b bytes.Buffer
		err = t.Execute(&b, struct{ Title, Version string }{s.Title, mvclust.Version})
		v.page = b.Bytes()
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("the page cannot be laid out: %w", err)
	}
	return v, nil
}

// URL is the address of the page, with its token.
func (v *Server) URL() string { return "http://" + v.address + "/" + v.token + "/" }

// Serve serves until ctx is done, and returns its error, or that of the network.
func (v *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: v.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(v.listen) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return ctx.Err()
	}
}

// Close stops listening.
func (v *Server) Close() { _ = v.listen.Close() }

// policy lets the page load its own style, script and pictures, and talk to nobody else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mostBody bounds the bytes of what the page sends.
const mostBody = 16 << 10

// Handler answers requests. One that is not from the page gets a status and nothing else.
func (v *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		name, status := v.admit(r)
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		if r.Method == http.MethodPost {
			v.act(w, r, name)
		} else {
			v.show(w, r, name)
		}
	})
}

// admit returns what a request asks for, or the status of one that is refused. Another site
// that the browser shows knows neither the token nor can it hide where it comes from; under
// another name for this machine, the host is another.
func (v *Server) admit(r *http.Request) (name string, status int) {
	origin := "http://" + v.address
	token, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	from := r.Header.Values("Origin")
	switch {
	case r.Host != v.address:
		return "", http.StatusForbidden
	case len(from) > 1 || len(from) == 1 && from[0] != origin:
		return "", http.StatusForbidden
	case r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" && (r.Header.Get("Sec-Fetch-Site") != "none" || r.Method != http.MethodGet):
		return "", http.StatusForbidden
	case subtle.ConstantTimeCompare([]byte(token), []byte(v.token)) != 1:
		return "", http.StatusForbidden
	}
	_, acts := actions[name]
	_, shows := files[name]
	switch {
	case !acts && !shows:
		return "", http.StatusNotFound
	case acts && r.Method != http.MethodPost, shows && r.Method != http.MethodGet:
		return "", http.StatusMethodNotAllowed
	case acts && len(from) == 0:
		return "", http.StatusForbidden
	case acts && r.Header.Get("Content-Type") != "application/json":
		return "", http.StatusUnsupportedMediaType
	case r.ContentLength > mostBody || shows && r.ContentLength != 0:
		return "", http.StatusRequestEntityTooLarge
	}
	return name, 0
}

// files are what can be loaded, with the media types.
var files = map[string]string{
	"": "text/html; charset=utf-8", "style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8",
	"state": "application/json", "progress": "application/json", "picture": "",
}

// show sends a file.
func (v *Server) show(w http.ResponseWriter, r *http.Request, name string) {
	var b []byte
	kind := files[name]
	switch name {
	case "":
		b = v.page
	case "style.css":
		b = []byte(front.Style)
	case "script.js":
		b = []byte(front.ReviewScript())
	case "picture":
		i, err := strconv.Atoi(r.URL.Query().Get("sample"))
		if err == nil && i >= 0 && i < v.session.Samples() {
			b, kind = v.session.picture(r.Context(), i)
		}
		if b == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
	case "progress":
		v.send(w, v.session.Progress())
		return
	default:
		state, err := v.session.State(r.Context())
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		v.send(w, state)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b)
}

// send sends JSON.
func (v *Server) send(w http.ResponseWriter, x any) {
	text, err := json.Marshal(x)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// request is what the page sends.
type request struct {
	A, B     *int
	Answer   string
	Clusters []int
	Cluster  *int
	Name     *string
	Level    *int
}

// actions are what the page can do.
var actions = map[string]func(ctx context.Context, s *Session, r *request) error{
	"answer": func(ctx context.Context, s *Session, r *request) error {
		if r.A == nil || r.B == nil {
			return errMalformed
		}
		return s.Answer(ctx, *r.A, *r.B, r.Answer)
	},
	"undo": func(ctx context.Context, s *Session, _ *request) error { return s.Undo(ctx) },
	"level": func(ctx context.Context, s *Session, r *request) error {
		if r.Level == nil {
			return errMalformed
		}
		return s.SetLevel(ctx, *r.Level)
	},
	"merge": func(ctx context.Context, s *Session, r *request) error {
		if len(r.Clusters) != 2 {
			return errMalformed
		}
		return s.Merge(ctx, r.Clusters[0], r.Clusters[1])
	},
	"split": func(ctx context.Context, s *Session, r *request) error {
		if r.Cluster == nil {
			return errMalformed
		}
		return s.Split(ctx, *r.Cluster)
	},
	"name": func(ctx context.Context, s *Session, r *request) error {
		if r.Cluster == nil || r.Name == nil {
			return errMalformed
		}
		return s.Name(ctx, *r.Cluster, *r.Name)
	},
	"apply": func(_ context.Context, s *Session, _ *request) error { return s.Start() },
}

// act carries out what the page asks for, and sends the state after it. What cannot be done is
// said in the state.
func (v *Server) act(w http.ResponseWriter, r *http.Request, name string) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	d.DisallowUnknownFields()
	var x request
	if err := d.Decode(&x); err != nil {
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		}
		w.WriteHeader(status)
		return
	}
	if _, err := d.Token(); err != io.EOF {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// Another level of many samples takes longer than a request may.
	c := http.NewResponseController(w)
	_ = errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{}))
	err := actions[name](r.Context(), v.session, &x)
	if errors.Is(err, errMalformed) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	state, failed := v.session.State(r.Context())
	if failed != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if err != nil {
		state.Problem = err.Error()
	}
	v.send(w, state)
}
