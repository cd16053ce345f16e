package index

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// planSample is how many bytes are really chunked to tell how long all would
// take.
const planSample = 8 << 20

// Plan says what indexing the roots would do, without a store: what is skipped
// is read as far as that is needed, chunks and time are extrapolated from a
// sample spread over all files.
func Plan(ctx context.Context, opts Options) (wire.DryRun, error) {
	opts = opts.withDefaults()
	plan := wire.DryRun{Languages: map[string]int{}, Skipped: map[string]int{}, SkippedFiles: []wire.SkippedFile{}}
	chunker := chunk.New(opts.Chunks)
	defer chunker.Close()
	var sampled, chunks int64
	var spent time.Duration
	skip := func(prefix, path string, reason file.SkipReason, detail string) {
		plan.Skipped[string(reason)]++
		if len(plan.SkippedFiles) < maxSkipped {
			plan.SkippedFiles = append(plan.SkippedFiles, wire.SkippedFile{Path: prefix + path, Reason: string(reason), Detail: detail})
		}
	}
	for _, r := range opts.Roots {
		r, err := absolute(r)
		if err != nil {
			return plan, err
		}
		prefix := ""
		if len(opts.Roots) > 1 {
			prefix = r.Name + "/"
		}
		rules, err := file.NewRules(r, opts.files(r))
		if err != nil {
			return plan, fmt.Errorf("reading ignore rules of %s: %w", r.Dir, err)
		}
		listing, err := rules.Scan(ctx)
		if err != nil {
			return plan, fmt.Errorf("scanning %s: %w", r.Dir, err)
		}
		for _, s := range listing.Skips {
			skip(prefix, s.Path, s.Reason, s.Detail)
		}
		var total int64
		for _, e := range listing.Entries {
			total += e.Size
		}
		every := max(1, total/planSample)
		for i, e := range listing.Entries {
			if err := ctx.Err(); err != nil {
				return plan, err
			}
			began := time.Now()
			content, err := file.Read(filepath.Join(r.Dir, filepath.FromSlash(e.Path)), opts.Files.MaxBytes)
			if err != nil {
				reason, detail := file.SkipUnreadable, err.Error()
				if s, ok := err.(*file.SkipError); ok {
					reason, detail = s.Reason, s.Detail
				}
				skip(prefix, e.Path, reason, detail)
				continue
			}
			class, reason, detail := file.Classify(e.Path, content.Text)
			if reason != "" {
				skip(prefix, e.Path, reason, detail)
				continue
			}
			plan.Files++
			plan.Bytes += content.Size
			plan.Languages[class.Language]++
			if int64(i)%every == 0 {
				chunks += int64(len(chunker.Chunk(ctx, chunk.Input{Path: e.Path, Class: class, Text: text.New(content.Text)}).Chunks))
				sampled += content.Size
				spent += time.Since(began)
			}
		}
	}
	if sampled > 0 {
		scale := float64(plan.Bytes) / float64(sampled)
		plan.Chunks = int(float64(chunks) * scale)
		// Tokenising, embedding and storing take about as long as chunking.
		plan.EstimatedMilliseconds = int64(2 * float64(spent.Milliseconds()) * scale / float64(opts.Workers))
	}
	return plan, nil
}
