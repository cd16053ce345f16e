package memory

const mib = 1 << 20

// DefaultLimit is the memory that the program keeps under where nobody says
// otherwise, in bytes: a quarter of the machine's, but 1 to 8 GiB; no more than
// half of the machine's, and than three quarters of what the process's control
// group grants.
func DefaultLimit() int64 { return defaultLimit(machine(), granted()) }

func defaultLimit(machine, granted int64) int64 {
	limit := int64(2048 * mib) // where the system tells nothing
	if machine > 0 {
		limit = min(max(machine/4, 1024*mib), 8192*mib, machine/2)
	}
	if granted > 0 {
		limit = min(limit, granted/4*3)
	}
	return limit
}
