package mcp

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine"
	"coderag-ls/engine/wire"
)

// Scheme is that of our resources: coderag:///PATH is the file that citations
// name PATH, and coderag:///PATH#L10-L20 are lines of it.
const Scheme = "coderag"

func (s *Server) addResources() {
	const lines = "; #L10-L20 behind it, or #L10, means lines of it"
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "file", Title: "Indexed file", URITemplate: Scheme + ":///{+path}",
		Description: "A file of the workspace, by the path that citations name" + lines + ". Only what is indexed can be read.",
	}, s.readResource)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "file-uri", Title: "Indexed file by URI", URITemplate: "file:///{+path}",
		Description: "A file of the workspace by the URI that results name" + lines + ". Only what is indexed can be read.",
	}, s.readResource)
}

// readResource reads lines of an indexed file.
func (s *Server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	params, err := parseResource(req.Params.URI)
	if err != nil {
		return nil, invalid(err)
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	c := callerOf(req, req.Params.InputResponses)
	folders, ask := s.folders(ctx, c)
	if ask {
		return &sdk.ReadResourceResult{InputRequests: questions()}, nil
	}
	o, done, err := s.desk.take(ctx, folders)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer done()
	// Nothing is searched: what is read is the file itself, whatever is indexed.
	params.Omit = s.opts.NeverSend
	r, err := o.view.Excerpt(ctx, params)
	var bad *engine.QueryError
	switch {
	case errors.As(err, &bad):
		return nil, invalid(err)
	case err != nil:
		return nil, failure(ctx, err)
	}
	r, secret := (&cleaner{redactor: s.redactor}).excerpt(ctx, o.view, r)
	meta := sdk.Meta{
		"coderag-ls/path": r.Path, "coderag-ls/startLine": r.StartLine, "coderag-ls/endLine": r.EndLine,
		"coderag-ls/lines": r.Lines, "coderag-ls/sha256": r.SHA256,
	}
	if secret {
		meta["coderag-ls/redacted"] = true
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: req.Params.URI, MIMEType: mimeType(r.Path), Text: r.Text, Meta: meta,
	}}}, nil
}

// invalid is the error of a resource that there is not.
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

// linesPattern is the fragment of a URI that means lines: L10, L10-L20, L10-20.
var linesPattern = regexp.MustCompile(`^L([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?$`)

// parseResource reads a resource's URI.
func parseResource(uri string) (wire.ExcerptParams, error) {
	var p wire.ExcerptParams
	base, fragment, ranged := strings.Cut(uri, "#")
	if ranged {
		m := linesPattern.FindStringSubmatch(fragment)
		if m == nil {
			return p, fmt.Errorf("%s: #%s means no lines: write #L10 or #L10-L20", uri, fragment)
		}
		p.StartLine, _ = strconv.Atoi(m[1]) // the pattern takes nothing else
		p.EndLine = p.StartLine
		if m[2] != "" {
			p.EndLine, _ = strconv.Atoi(m[2])
		}
	}
	rest, ours := strings.CutPrefix(base, Scheme+":///")
	switch {
	case strings.Contains(base, "?"):
		return p, fmt.Errorf("%s: a query means nothing here: lines are #L10-L20", uri)
	case strings.HasPrefix(base, "file:"):
		p.URI = base
		return p, nil
	case !ours:
		return p, fmt.Errorf("%s is neither %s:///PATH nor a file URI", uri, Scheme)
	}
	name, err := url.PathUnescape(rest)
	if err != nil || name == "" {
		return p, fmt.Errorf("%s names no path", uri)
	}
	p.Path = name
	return p, nil
}

// mimeType is the type of a text file, by its name.
func mimeType(name string) string {
	t := mime.TypeByExtension(path.Ext(name))
	if kind, _, _ := strings.Cut(t, ";"); strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml") {
		return kind
	}
	return "text/plain" // whatever else its name says: it was read as text
}
