// Package treesitter finds the structure of source code with tree-sitter
// grammars: which definitions a file holds, where their names, bodies and
// parts stand, what it imports. It is the only importer of tree-sitter.
package treesitter

/*
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include "walk.h"
*/
import "C"

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"
)

// The reasons why a file has no outline.
var (
	// ErrNoGrammar: there is no grammar for the language.
	ErrNoGrammar = errors.New("no grammar")
	// ErrDeadline: parsing took longer than allowed.
	ErrDeadline = errors.New("parse deadline passed")
)

// raw is one node as the walk in C records it; the layout is walk_node's.
type raw struct {
	start, end       uint32
	startRow, endRow uint32
	parent           int32
	symbol, field    uint16
	depth            uint16
	flags            uint8
}

// luaScanner is held while a Lua file is parsed: the scanner of the grammar keeps
// what it knows in variables of the whole process, and forgets nothing at the
// end of a file.
var luaScanner sync.Mutex

// enter prepares the grammar for a file; leave ends that.
func (g *grammar) enter() (leave func()) {
	if !g.lua {
		return func() {}
	}
	luaScanner.Lock()
	C.walk_reset_lua()
	return luaScanner.Unlock
}

// Parser parses files of any supported language, one at a time. It is not safe
// for concurrent use. Close frees it.
type Parser struct {
	state    *C.walk_state
	grammars *Grammars
	out      Outline
}

// Close frees the parser's memory. It may be called more than once.
func (p *Parser) Close() {
	if p.state != nil {
		C.walk_free(p.state)
		p.state = nil
	}
}

// parse returns the structural nodes of src, valid until the next call, and how
// many bytes are errors.
func (p *Parser) parse(ctx context.Context, g *grammar, src string, deadline time.Duration, limit int) ([]raw, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if ctx.Done() != nil {
		state := p.state
		done := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			C.walk_cancel(state)
			close(done)
		})
		defer func() {
			if !stop() {
				<-done
				C.walk_uncancel(state)
			}
		}()
	}
	defer g.enter()()
	rc := C.walk_parse(p.state, g.language, (*C.char)(unsafe.Pointer(unsafe.StringData(src))), C.uint32_t(len(src)),
		C.uint64_t(max(deadline.Microseconds(), 1)), C.uint32_t(limit), (*C.uint8_t)(unsafe.Pointer(&g.actions[0])), C.uint32_t(len(g.actions)))
	switch rc {
	case C.WALK_OK:
	case C.WALK_STOPPED:
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		return nil, 0, ErrDeadline
	case C.WALK_NO_LANGUAGE:
		return nil, 0, ErrNoGrammar
	default:
		return nil, 0, errors.New("out of memory")
	}
	return unsafe.Slice((*raw)(unsafe.Pointer(C.walk_nodes(p.state))), int(C.walk_count(p.state))), int(C.walk_error_bytes(p.state)), nil
}

// ParseOnly parses src and throws the tree away: it measures what parsing alone
// costs.
func (p *Parser) ParseOnly(language, src string) error {
	g, err := p.grammars.get(language)
	if err != nil {
		return err
	}
	defer g.enter()()
	if C.walk_parse_only(p.state, g.language, (*C.char)(unsafe.Pointer(unsafe.StringData(src))), C.uint32_t(len(src))) != C.WALK_OK {
		return ErrDeadline
	}
	return nil
}
