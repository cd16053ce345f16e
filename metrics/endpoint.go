package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// closeTime is how long a scrape that runs may go on when the endpoint closes.
const closeTime = 2 * time.Second

// endpoint is an HTTP server that listens.
type endpoint struct {
	wanted string // the address as it was set
	addr   net.Addr
	http   *http.Server
	done   chan struct{} // closed when it serves no more
}

// CheckAddress refuses what is no loopback address with a port, so that no other
// machine can read the figures. "" is none and allowed.
func CheckAddress(address string) error {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("metrics.listen %q is not of the form 127.0.0.1:PORT: %w", address, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("metrics.listen %q: %q is no port number", address, port)
	}
	if !loopback(host) {
		return fmt.Errorf("metrics.listen %q: %q is no loopback address; use 127.0.0.1 or [::1]", address, host)
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Listen serves the figures at http://address/metrics, instead of where it did
// before; "" stops that. Where it cannot listen there, nothing is served.
func (s *Server) Listen(ctx context.Context, address string) error {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.endpoint != nil && s.endpoint.wanted == address {
		return nil
	}
	err := s.stop()
	if err := errors.Join(err, CheckAddress(address)); err != nil || address == "" {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("offering metrics: listening on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", local(promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		Registry: s.registry, MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError,
	})))
	e := &endpoint{wanted: address, addr: l.Addr(), done: make(chan struct{}), http: &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}}
	go func() {
		defer close(e.done)
		if err := e.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("serving metrics", "error", err)
		}
	}()
	s.endpoint = e
	s.log.Info("metrics", "url", fmt.Sprintf("http://%s/metrics", e.addr))
	return nil
}

// local refuses requests under another machine's name: a web page could have
// that name lead here.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if host != "localhost" && !loopback(host) {
			http.Error(w, "metrics are for this machine only: ask 127.0.0.1", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Addr returns the address that is listened on, "" for none.
func (s *Server) Addr() string {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.endpoint == nil {
		return ""
	}
	return s.endpoint.addr.String()
}

// Close stops listening.
func (s *Server) Close() error {
	s.listening.Lock()
	defer s.listening.Unlock()
	return s.stop()
}

// stop stops listening. The caller holds listening.
func (s *Server) stop() error {
	e := s.endpoint
	if e == nil {
		return nil
	}
	s.endpoint = nil
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := e.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.http.Close() // a scrape hangs: it is cut off
	}
	<-e.done
	return err
}
