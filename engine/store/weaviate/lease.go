package weaviate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"coderag-ls/engine/sharedindex"
)

// lease is one writer's hold on a name. The engine has no compare-and-set:
// whoever wants a lease writes it, waits for longer than such a write takes, and
// has it if it still stands then (Fischer's algorithm). A write that
// took longer may have gone over somebody else's lease that stood already: its
// writer waits until the other one has had to notice.
//
// No clock is compared with another machine's. A lease that is not renewed for its
// whole duration, by the clock of who looks at it, is dead.
type lease struct {
	shelf
	token string

	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	count   uint64
	renewed time.Time // when the latest renewal that succeeded was begun
	lost    error
}

// held is a lease as it is stored.
type held struct {
	token, owner string
	count        uint64 // of renewals
}

// settle is how long a lease has to stand before it counts.
const settle = 150 * time.Millisecond

// A lease is renewed several times in its duration, and given up by its holder
// before others may take it.
func (s shelf) renewal() time.Duration { return s.options.Lease / 10 }
func (s shelf) valid() time.Duration   { return s.options.Lease * 3 / 5 }

func (s shelf) leaseID() string { return id("lease", s.scope, s.name) }

// holder reads the lease, nil where there is none.
func (s shelf) holder(ctx context.Context) (*held, error) {
	content, there, err := s.content(ctx, s.leaseID())
	if err != nil || !there {
		return nil, err
	}
	r := reader{b: content}
	h := &held{token: r.string(), owner: r.string(), count: r.uint()}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("reading the lease of %s: %w", s.name, err)
	}
	return h, nil
}

// hold writes the lease.
func (s shelf) hold(ctx context.Context, token string, count uint64) error {
	b := appendString(appendString(nil, token), s.options.Owner)
	return s.put(ctx, "writing the lease of "+s.name, s.home, []object{s.object(s.leaseID(), append(b, uvarint(count)...))})
}

// heldError is sharedindex.ErrPublishing with the holder.
type heldError struct {
	name, owner string
}

func (e *heldError) Error() string {
	return fmt.Sprintf("writing %s: %v (%s): wait for it to end", e.name, sharedindex.ErrPublishing, e.owner)
}

func (e *heldError) Is(target error) bool { return target == sharedindex.ErrPublishing }

// acquire takes the lease. The error is a heldError where somebody has it. Where
// its holder is not heard of, that takes the lease's duration.
func (s shelf) acquire(ctx context.Context) (*lease, error) {
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	l := &lease{shelf: s, token: hex.EncodeToString(token), done: make(chan struct{})}
	if err := s.free(ctx); err != nil {
		return nil, err
	}
	for {
		began := time.Now()
		if err := s.hold(ctx, l.token, 0); err != nil {
			return nil, l.abandon(err)
		}
		wait := settle
		if took := time.Since(began); took > settle/2 {
			wait += took + s.renewal()
		}
		if err := pause(ctx, wait); err != nil {
			return nil, l.abandon(stopped("writing the lease of "+s.name, err))
		}
		began = time.Now()
		h, err := s.holder(ctx)
		if err != nil {
			return nil, l.abandon(err)
		}
		if h != nil && h.token == l.token {
			l.renewed = began
			break
		}
		if h != nil {
			return nil, &heldError{s.name, h.owner}
		}
		// Its last holder's farewell came after ours.
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.renew(ctx)
	return l, nil
}

// abandon takes back what was written where taking the lease failed, so that
// nobody need wait for it to die, and returns why it failed.
func (l *lease) abandon(why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(l.options.Timeout, 2*time.Second))
	defer cancel()
	if h, err := l.holder(ctx); err == nil && h != nil && h.token == l.token {
		err = l.remove(ctx, "giving up the lease of "+l.name, l.state, l.home, []string{l.leaseID()})
		why = errors.Join(why, err)
	}
	return why
}

// free waits until the lease is nobody's: at once where there is none.
func (s shelf) free(ctx context.Context) error {
	first, err := s.holder(ctx)
	if err != nil || first == nil {
		return err
	}
	for since := time.Now(); time.Since(since) < s.options.Lease; {
		if err := pause(ctx, s.renewal()/2); err != nil {
			return stopped("waiting for the lease of "+s.name, err)
		}
		h, err := s.holder(ctx)
		if err != nil || h == nil {
			return err
		}
		if *h != *first {
			return &heldError{s.name, h.owner}
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renew renews the lease until it is let go or lost. One that lapsed, as nothing
// could be reached, and that nobody took, is held again once it has stood as a new
// one has to.
func (l *lease) renew(ctx context.Context) {
	defer close(l.done)
	for pause(ctx, l.renewal()) == nil {
		began := time.Now()
		mine, err := l.mine(ctx)
		if err != nil {
			continue
		}
		if !mine {
			return
		}
		lapsed := l.check() != nil
		l.mu.Lock()
		l.count++
		count := l.count
		l.mu.Unlock()
		if l.hold(ctx, l.token, count) != nil {
			continue
		}
		if lapsed {
			if pause(ctx, settle+time.Since(began)) != nil {
				return
			}
			began = time.Now()
			if mine, err = l.mine(ctx); err != nil {
				continue
			}
			if !mine {
				return
			}
		}
		l.mu.Lock()
		l.renewed = began
		l.mu.Unlock()
	}
}

// mine reports whether the lease stands; where it does not it is lost.
func (l *lease) mine(ctx context.Context) (bool, error) {
	h, err := l.holder(ctx)
	if err != nil || h != nil && h.token == l.token {
		return err == nil, err
	}
	lost := &heldError{l.name, "while this one could not be reached another one published it"}
	if h != nil {
		lost.owner = h.owner
	}
	l.mu.Lock()
	l.lost = lost
	l.mu.Unlock()
	return false, nil
}

// errLapsed: the lease could not be renewed in time. It may pass.
var errLapsed = errors.New("its lease could not be renewed in time")

// check returns nil as long as the lease is surely held.
func (l *lease) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	if time.Since(l.renewed) > l.valid() {
		return fmt.Errorf("writing %s: %w: %w", l.name, sharedindex.ErrUnreachable, errLapsed)
	}
	return nil
}

// release gives the lease up.
func (l *lease) release(ctx context.Context) error {
	l.cancel()
	<-l.done
	if l.check() != nil {
		return nil // it is somebody else's
	}
	return l.remove(ctx, "giving up the lease of "+l.name, l.state, l.home, []string{l.leaseID()})
}
