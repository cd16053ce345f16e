package memory

import "testing"

func TestDefaultLimit(t *testing.T) {
	for _, c := range []struct{ machine, granted, want int64 }{
		{16384, 0, 4096},
		{65536, 0, 8192},   // no more than 8 GiB
		{2048, 0, 1024},    // no less than 1 GiB
		{1024, 0, 512},     // but half of the machine's
		{0, 0, 2048},       // not known
		{65536, 1024, 768}, // a container's share
		{16384, 16384, 4096},
	} {
		if got := defaultLimit(c.machine*mib, c.granted*mib) / mib; got != c.want {
			t.Errorf("of %d MiB, %d granted: %d, want %d", c.machine, c.granted, got, c.want)
		}
	}
	if n := DefaultLimit(); n < 64*mib {
		t.Errorf("here: %d", n)
	}
}
