package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"coderag-ls/engine/file"
)

const (
	// manyKnown is how many indexed files a folder that is empty all at once is
	// not believed to have lost: fewer are indexed again in no time.
	manyKnown = 100
	// awayPoll is how often a folder that is away is looked for.
	awayPoll = 2 * time.Second
)

// errAway wraps why a root's folder cannot be looked at as a whole. Nothing in
// it may be taken as deleted.
var errAway = errors.New("its index stays as it is")

// away says why the root's folder is not there, or not itself: nil where it is.
// A volume that is not mounted leaves its mount point, an empty folder on the
// volume above.
func (r *root) away() error {
	r.mu.Lock()
	known, accepted, device := len(r.known.files), r.accepted, r.device
	r.mu.Unlock()
	info, empty, err := lookAt(r.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", err, errAway)
	case accepted || known < manyKnown:
		return nil
	case empty:
		return r.vacant("is empty", known)
	case device != 0 && deviceOf(info) != device && !r.familiar():
		return r.vacant("is on another volume than before, with none of its files", known)
	}
	return nil
}

func (r *root) vacant(is string, known int) error {
	return fmt.Errorf("workspace folder %s %s, though %d are indexed: if its volume is not mounted, mount it; if they were deleted, confirm it with a reindex (coderag-ls index --force): %w", r.Dir, is, known, errAway)
}

// familiarLooks is how many known files are looked for on another volume.
const familiarLooks = 100

// familiar reports whether some known files are there.
func (r *root) familiar() bool {
	r.mu.Lock()
	var some []string
	for rel := range r.known.files {
		if some = append(some, rel); len(some) == familiarLooks {
			break
		}
	}
	r.mu.Unlock()
	for _, rel := range some {
		if _, err := os.Lstat(r.abs(rel)); err == nil {
			return true
		}
	}
	return false
}

// lookAt looks at a root's folder without reading more of it than needed.
func lookAt(dir string) (info os.FileInfo, empty bool, err error) {
	if err := checkRoot(dir); err != nil {
		return nil, false, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, fmt.Errorf("looking at workspace folder: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, false, fmt.Errorf("looking at workspace folder %s: %w", dir, err)
	}
	switch _, err := f.Readdirnames(1); {
	case errors.Is(err, io.EOF):
		return info, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("looking at workspace folder %s: %w", dir, err)
	}
	return info, false, nil
}

// settle notes that a scan found the folder to be itself.
func (r *root) settle(listing file.Listing) {
	info, _, err := lookAt(r.Dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.device = deviceOf(info)
	}
	if len(listing.Entries) > 0 {
		r.accepted = false
	}
}

// lookForAway scans again when a folder that was away is back. While none is,
// nothing is looked at.
func (ix *Index) lookForAway(ctx context.Context) {
	tick := time.NewTicker(awayPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, r := range ix.roots {
			r.mu.Lock()
			away := r.isAway
			r.mu.Unlock()
			if away && r.away() == nil {
				ix.scans.request("a folder is back")
				break
			}
		}
	}
}
