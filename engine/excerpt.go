package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Excerpt returns lines of a file as they stand in the view. Only files that
// are indexed, or would be, can be read: what the workspace's rules leave out,
// such as secrets, and whatever lies outside of it is a *QueryError, and so are
// lines that the file does not have.
func (v *View) Excerpt(ctx context.Context, p wire.ExcerptParams) (wire.ExcerptResult, error) {
	st, err := v.begin(ctx)
	if err != nil {
		return wire.ExcerptResult{}, err
	}
	name := p.Path
	if name == "" {
		abs, err := text.PathFromURI(p.URI)
		if err != nil {
			return wire.ExcerptResult{}, &QueryError{Reason: fmt.Sprintf("%q names no file: give a path of the workspace, or a file URI", p.URI)}
		}
		if name, _ = st.ix.WorkspacePath(abs); name == "" {
			return wire.ExcerptResult{}, &QueryError{Reason: fmt.Sprintf("%s is not in the workspace", p.URI)}
		}
	}
	omit, err := file.NewGlobs(p.Omit)
	if err != nil {
		return wire.ExcerptResult{}, &QueryError{Reason: err.Error()}
	}
	none := &QueryError{Reason: fmt.Sprintf("%s is no file that is indexed here: search tells which are", name)}
	if !strings.Contains(name, "\x00") {
		if abs, ok := st.ix.Admits(name); ok && !omitted(st.snap, name, omit) {
			if content, ok := st.view.Read(ctx, abs); ok {
				return excerpt(text.New(content), name, abs, p)
			}
		}
	}
	if st.shared != nil {
		_, rel, _ := strings.Cut(name, ":")
		if abs, ok := st.shared.sh.copies.resolve(name); ok && !omit.Match(rel) { // of another repository, cited before
			if content, ok := st.view.Read(ctx, abs); ok {
				return excerpt(text.New(content), name, abs, p)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return wire.ExcerptResult{}, err
	}
	return wire.ExcerptResult{}, none
}

// omitted reports whether a file is named by globs. Of one that is not indexed yet
// it is not known whether its path begins with a root's name.
func omitted(s *index.Snapshot, name string, omit file.Globs) bool {
	if f := s.File(name); f != nil {
		return f.Named(omit)
	}
	_, rest, _ := strings.Cut(name, "/")
	return omit.Match(name) || rest != "" && omit.Match(rest)
}

// excerpt takes the lines out of a document.
func excerpt(d *text.Document, name, abs string, p wire.ExcerptParams) (wire.ExcerptResult, error) {
	r := wire.ExcerptResult{URI: text.URIFromPath(abs), Path: name, StartLine: max(p.StartLine, 1), EndLine: p.EndLine, Lines: d.LineCount()}
	if r.EndLine == 0 || r.EndLine > r.Lines {
		r.EndLine = r.Lines
	}
	if whole := r.Lines == 0 && p.StartLine == 0 && p.EndLine == 0; whole {
		r.StartLine = 0 // there is no line
	} else {
		var ok bool
		if r.Text, ok = d.Lines(r.StartLine, r.EndLine); !ok || p.StartLine < 0 {
			return wire.ExcerptResult{}, &QueryError{Reason: fmt.Sprintf("%s has %d lines, but lines %d to %d were asked for", name, r.Lines, p.StartLine, p.EndLine)}
		}
	}
	sum := sha256.Sum256([]byte(r.Text))
	r.SHA256 = hex.EncodeToString(sum[:])
	return r, nil
}
