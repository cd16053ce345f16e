package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/internal/jsonrpc"
)

const (
	maxLinks     = 1000
	maxLinkBytes = 4 << 20 // of a document
)

// placePattern is a citation within prose: path:12 or path:12-34, of another
// repository repository@commit:path:12. Paths with spaces are recognised on citation lines only
// (snippet.Parse).
var placePattern = regexp.MustCompile(`((?:[\pL\pN_.~+/-]+@[\pL\pN_.~+-]+:)?[\pL\pN_.@~+/-]*[\pL\pN_]):([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?`)

// linkData is what a link is resolved from.
type linkData struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	SHA8  string `json:"sha8,omitempty"`
}

// documentLink finds the citations of files that exist, in comments and in
// prose.
func (s *server) documentLink(ctx context.Context, req *request, p documentParams) ([]protocol.DocumentLink, error) {
	links := []protocol.DocumentLink{}
	doc := req.docs.get(p.TextDocument.URI)
	if doc == nil || len(doc.text.Content()) > maxLinkBytes {
		return links, nil
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil || !s.settings().LSP.DocumentLinks {
		return links, ctx.Err()
	}
	comments, inBlock := commentsOf(doc.linguistName()), false
	for n := 1; n <= doc.text.LineCount() && len(links) < maxLinks; n++ {
		line := doc.text.Line(n)
		var from int
		from, inBlock = comments.span(line, inBlock)
		for _, c := range citationsIn(line, from) {
			if _, ok := view.Resolve(c.Path); !ok {
				continue
			}
			start := doc.text.LineStart(n)
			link := protocol.DocumentLink{
				Range: s.protocolRange(doc.text, start+c.Start, start+c.End),
				Data:  linkData{Path: c.Path, Start: c.StartLine, End: c.EndLine, SHA8: c.SHA8},
			}
			if s.caps.linkTooltip() {
				link.Tooltip = fmt.Sprintf("Open %s at line %d", c.Path, c.StartLine)
			}
			links = append(links, link)
		}
	}
	return links, ctx.Err()
}

// citationsIn finds the citations in a line from the byte on.
func citationsIn(line string, from int) []snippet.Citation {
	if c, ok := snippet.Parse(line); ok {
		return []snippet.Citation{c} // whatever its marker, the form is ours
	}
	var all []snippet.Citation
	for _, m := range placePattern.FindAllStringSubmatchIndex(line[from:], -1) {
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
		c := snippet.Citation{Path: line[m[2]:m[3]], Start: m[0], End: m[1]}
		c.StartLine, _ = strconv.Atoi(line[m[4]:m[5]])
		c.EndLine = c.StartLine
		if m[6] >= 0 {
			c.EndLine, _ = strconv.Atoi(line[m[6]:m[7]])
		}
		if c.EndLine >= c.StartLine {
			all = append(all, c)
		}
	}
	return all
}

// resolveDocumentLink finds where the cited lines stand now.
func (s *server) resolveDocumentLink(ctx context.Context, req *request, link protocol.DocumentLink) (*protocol.DocumentLink, error) {
	var data linkData
	if err := remarshal(link.Data, &data); err != nil || data.Path == "" {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "bad parameters: data is not what textDocument/documentLink returned")
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	abs, ok := view.Resolve(data.Path)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.RequestFailed, "%s is no longer in the workspace", data.Path)
	}
	start, end := data.Start, data.End
	if data.SHA8 != "" {
		if content, ok := view.Text(ctx, abs); ok {
			cited := snippet.Citation{SHA8: data.SHA8}
			if at, ok := snippet.Find(text.New(content), start, end, cited.Matches); ok {
				start, end = at, at+end-start
			}
		}
	}
	link.Target = protocol.DocumentURI(lineURI(text.URIFromPath(abs), start, end))
	return &link, nil
}

// remarshal turns data that went through the client back into its type.
func remarshal(data any, into any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
