package main

import (
	"fmt"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
)

// shownAnswer is an answer that is shown as it comes.
type shownAnswer struct {
	a      *app
	cited  *cited
	stream *terminal.Stream
	err    error // the terminal's: nothing is shown after it
}

func (a *app) showAnswer() *shownAnswer {
	c := newCited(a.out, nil)
	return &shownAnswer{a: a, cited: c, stream: a.out.Stream(c)}
}

// event shows a part of the answer. A citation comes before the text that
// names it.
func (s *shownAnswer) event(e engine.Event) {
	switch {
	case e.Citation != nil:
		s.cited.byID[s.a.out.Text(e.Citation.ID)] = *e.Citation
	case e.Retract != "":
		s.show(s.stream.Add(fmt.Sprintf("\n\n> [%s] does not hold any more: its file has changed.\n", e.Retract)))
	default:
		s.show(s.stream.Add(e.Text))
	}
}

func (s *shownAnswer) show(text string) {
	if s.err == nil && text != "" {
		s.err = s.a.print(text)
	}
}

// end shows what is left. It says whether all could be shown; nothing was where
// s is nil.
func (s *shownAnswer) end() error {
	if s == nil {
		return nil
	}
	s.show(s.stream.End())
	return s.err
}
