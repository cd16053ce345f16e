package file

// Coalesce folds the changes of each path into the fewest that leave the same
// state, in the order in which the paths first changed. Disk and buffer are
// independent of each other: any number of Touched are one, before the path's
// buffer change, which follows this table:
//
//	first \ then   Opened   Edited                Closed
//	Opened         Opened   Opened, as edited     nothing
//	Edited         Opened   Edited                Closed
//	Closed         Opened   Edited                Closed
//
// A buffer closed and opened again has changed; one opened and closed again was
// never there, unless an earlier change shows that it was open before.
func Coalesce(changes []Change) []Change {
	type state struct {
		touched *Change
		buffer  *Change
		before  bool // the buffer was open before the first change
		seen    bool // a buffer change was seen
	}
	byPath := make(map[string]*state, len(changes))
	var order []*state
	for i := range changes {
		c := changes[i] // a copy: the caller's stay as they are
		s := byPath[c.Path]
		if s == nil {
			s = &state{}
			byPath[c.Path] = s
			order = append(order, s)
		}
		if c.Kind == Touched {
			s.touched = &c
			continue
		}
		if !s.seen {
			s.seen, s.before = true, c.Kind != Opened
		}
		switch {
		case c.Kind == Closed && !s.before:
			s.buffer = nil
		case c.Kind == Edited && s.buffer != nil && s.buffer.Kind == Opened:
			s.buffer.Text, s.buffer.Version = c.Text, c.Version
		default:
			s.buffer = &c
		}
	}
	out := make([]Change, 0, len(order))
	for _, s := range order {
		for _, c := range [...]*Change{s.touched, s.buffer} {
			if c != nil {
				out = append(out, *c)
			}
		}
	}
	return out
}
