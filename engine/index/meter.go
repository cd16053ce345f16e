package index

import (
	"sync"
	"time"

	"coderag-ls/engine/wire"
)

// meterSeconds is how far back rates look.
const meterSeconds = 10

// done is an amount of work.
type amount struct{ files, chunks, embeds int }

// meter tells how fast work went over the last seconds.
type meter struct {
	mu      sync.Mutex
	buckets [meterSeconds + 1]struct {
		second int64
		amount
	}
	first int64 // the second in which the present run of work began
	last  int64
}

func (m *meter) add(a amount) { m.addAt(time.Now().Unix(), a) }

func (m *meter) addAt(now int64, a amount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &m.buckets[now%int64(len(m.buckets))]
	if b.second != now {
		b.second, b.amount = now, amount{}
	}
	b.files, b.chunks, b.embeds = b.files+a.files, b.chunks+a.chunks, b.embeds+a.embeds
	if now-m.last > meterSeconds {
		m.first = now
	}
	m.last = now
}

func (m *meter) rates() wire.Rates { return m.ratesAt(time.Now().Unix()) }

// ratesAt counts the seconds from the run's first, at most meterSeconds, the
// present one included.
func (m *meter) ratesAt(now int64) wire.Rates {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum amount
	for _, b := range m.buckets {
		if b.second > now-meterSeconds && b.second <= now {
			sum.files, sum.chunks, sum.embeds = sum.files+b.files, sum.chunks+b.chunks, sum.embeds+b.embeds
		}
	}
	seconds := float64(min(now-m.first+1, meterSeconds))
	if seconds < 1 {
		return wire.Rates{}
	}
	return wire.Rates{Files: float64(sum.files) / seconds, Chunks: float64(sum.chunks) / seconds, Embeds: float64(sum.embeds) / seconds}
}
