package terminal

import (
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Step is how far a piece of work is.
type Step struct {
	Label       string // "indexing"
	Unit        string // "files"; "B" for bytes
	Done, Total int64
}

// Progress shows the steps of long work: a bar on a terminal, a line every few
// seconds elsewhere. What ends within half a second is not shown at all.
type Progress struct {
	out  *Output
	news chan struct{} // 1 slot
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex
	last Step
}

// NewProgress starts showing progress on out.
func NewProgress(out *Output) *Progress {
	p := &Progress{out: out, news: make(chan struct{}, 1), stop: make(chan struct{})}
	p.done.Go(p.run)
	return p
}

// Set tells the newest step. It never blocks.
func (p *Progress) Set(s Step) {
	p.mu.Lock()
	p.last = s
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Close takes the bar away.
func (p *Progress) Close() {
	close(p.stop)
	p.done.Wait()
}

const (
	quietFor  = 500 * time.Millisecond
	barEvery  = 100 * time.Millisecond
	lineEvery = 3 * time.Second
)

func (p *Progress) run() {
	every := lineEvery
	if p.out.Terminal {
		every = barEvery
	}
	var show func(Step)
	hide := func() {}
	if p.out.Terminal {
		show, hide = p.bar()
	} else {
		show = p.line
	}
	defer func() { hide() }()
	wait := time.NewTimer(quietFor)
	defer wait.Stop()
	select {
	case <-p.stop:
		return
	case <-wait.C:
	}
	for {
		select {
		case <-p.stop:
			return
		case <-p.news:
			p.mu.Lock()
			s := p.last
			p.mu.Unlock()
			show(s)
		}
		wait.Reset(every)
		select {
		case <-p.stop:
			return
		case <-wait.C:
		}
	}
}

func (p *Progress) line(s Step) {
	if s.Total > 0 {
		fmt.Fprintf(p.out, "%s: %d of %d %s\n", s.Label, s.Done, s.Total, s.Unit)
	} else if s.Done > 0 {
		fmt.Fprintf(p.out, "%s: %d %s\n", s.Label, s.Done, s.Unit)
	} else {
		fmt.Fprintf(p.out, "%s\n", s.Label)
	}
}

// bar returns what shows a step and what takes the bar away.
func (p *Progress) bar() (show func(Step), hide func()) {
	var bar *progressbar.ProgressBar
	var shown Step
	hide = func() {
		if bar != nil {
			// A bar on a closed terminal is not worth an error.
			_ = bar.Clear()
		}
	}
	show = func(s Step) {
		total := s.Total
		if total <= 0 {
			total = -1 // a spinner
		}
		if bar == nil || s.Label != shown.Label || (shown.Total > 0) != (s.Total > 0) {
			hide()
			options := []progressbar.Option{
				progressbar.OptionSetWriter(p.out.Writer),
				progressbar.OptionSetDescription(s.Label),
				progressbar.OptionSetWidth(max(10, min(30, p.out.Width-60))),
				progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: "─", BarStart: "", BarEnd: ""}),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionUseANSICodes(true),
				progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own: it would outlive the bar
			}
			if s.Unit == "B" {
				options = append(options, progressbar.OptionShowBytes(true))
			} else {
				options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(s.Unit))
			}
			bar = progressbar.NewOptions64(total, options...)
		} else if total > 0 && total != shown.Total {
			bar.ChangeMax64(total)
		}
		shown = s
		// The bar goes away by itself at its end; more may come.
		_ = bar.Set64(min(s.Done, max(total-1, 0)))
	}
	return show, hide
}
