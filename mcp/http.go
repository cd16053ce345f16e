package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is reached over HTTP.
const Path = "/mcp"

// HTTPOptions are those of a server that is reached over HTTP.
type HTTPOptions struct {
	// Token is what a client must send as "Authorization: Bearer TOKEN"; never "".
	Token string
	// Hosts are the names, beside those of loopback, under which the server is
	// reached. Requests for another name are refused: that is how a web page
	// reaches a server of this machine (DNS rebinding).
	Hosts []string
}

// CheckAddress refuses addresses that other machines could reach, unless names
// for the server were given.
func CheckAddress(address string, hosts []string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not of the form 127.0.0.1:PORT: %w", address, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: %q is no port number", address, port)
	}
	if ip, err := netip.ParseAddr(host); (err != nil || !ip.IsLoopback()) && len(hosts) == 0 {
		return fmt.Errorf("%q: %q is no loopback address: use 127.0.0.1 or [::1], or say with the setting mcp.hosts under which names other machines reach this one", address, host)
	}
	return nil
}

const (
	headerTime   = 10 * time.Second // to send a request's header
	idleTime     = 30 * time.Minute // of a session without requests
	shutdownTime = 2 * time.Second  // for calls under way when the server ends
)

// ServeHTTP serves clients that come to the listener and know the token, until
// ctx ends. It closes the listener.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	handler, err := s.handler(o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.desk.begin(ctx)
	h := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		for session := range s.sdk.Sessions() {
			_ = session.Close() // its client is told by the connection's end
		}
		err := h.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close() // streams that their clients keep open
		}
		stopped <- err
	})
	err = h.Serve(l)
	if !stop() {
		return errors.Join(ctx.Err(), <-stopped)
	}
	return fmt.Errorf("serving %s: %w", l.Addr(), err)
}

// handler is the server behind what keeps strangers out.
func (s *Server) handler(o HTTPOptions) (http.Handler, error) {
	if o.Token == "" {
		return nil, errors.New("a server that is reached over HTTP needs a token")
	}
	get := func(*http.Request) *sdk.Server { return s.sdk }
	// The protocol's version without sessions is served without any; clients of
	// older ones get a session, by which their cancellations find their calls.
	current := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, Logger: s.log, DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	})
	former := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Logger: s.log, DisableLocalhostProtection: true, SessionTimeout: idleTime,
	})
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= statelessVersion {
			current.ServeHTTP(w, r)
		} else {
			former.ServeHTTP(w, r)
		}
	})
	// Digests have one length: comparing them tells nothing of the token's.
	want := sha256.Sum256([]byte(o.Token))
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if got := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: "owner"}, nil
	}
	known := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(mux)
	return s.guard(known, o.Hosts), nil
}

// guard refuses requests that were not meant for this server: those for another
// name (DNS rebinding), and those of web pages from elsewhere. The SDK checks
// the former on loopback only.
func (s *Server) guard(next http.Handler, hosts []string) http.Handler {
	refuse := func(w http.ResponseWriter, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		s.log.Warn("a request is refused", "reason", message)
		http.Error(w, message, http.StatusForbidden)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ownName(r.Host, hosts) {
			refuse(w, "this server is not %q (setting mcp.hosts)", r.Host)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !ownName(u.Host, hosts) {
				refuse(w, "requests of %q are not taken (setting mcp.hosts)", origin)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// ownName reports whether a host, with or without a port, means this server.
func ownName(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") {
		return true
	}
	return slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
