package store

import "fmt"

// LockedError is ErrLocked with what is known of who holds the store.
type LockedError struct {
	// Dir is the index directory.
	Dir string
	// Owner is what the owner wrote into its lock, for people: "pid <n> since
	// <time>".
	Owner string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("opening index %s: %v (%s): use that one, or end it and try again", e.Dir, ErrLocked, e.Owner)
}

// Is makes it ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// By reports whether the owner's text names a process.
func (e *LockedError) By(pid int) bool {
	var n int
	_, err := fmt.Sscanf(e.Owner, "pid %d ", &n)
	return err == nil && n == pid
}
