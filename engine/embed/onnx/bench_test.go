//go:build unix

package onnx_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

// cpuTime is what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEmbed reports texts per CPU second for texts of 64, 128 and 256
// tokens. The tokenizer's part is bert.BenchmarkEncode.
func BenchmarkEmbed(b *testing.B) {
	for _, variant := range export.Variants() {
		for _, tokens := range []int{64, 128, 256} {
			b.Run(fmt.Sprintf("%s/%d", variant, tokens), func(b *testing.B) {
				e, err := onnx.Open(context.Background(), onnx.Options{
					ModelDir: onnxtest.MiniLM(b, variant), Variant: string(variant), MaxTokens: tokens, Threads: 1,
				})
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				text := strings.Repeat("func (s *Server) handle(ctx context.Context, id int) error {\n", 40)
				if _, err := e.Embed(context.Background(), []string{text}); err != nil {
					b.Fatal(err)
				}
				start := cpuTime(b)
				for b.Loop() {
					if _, err := e.Embed(context.Background(), []string{text}); err != nil {
						b.Fatal(err)
					}
				}
				used := cpuTime(b) - start
				b.ReportMetric(float64(b.N)/used.Seconds(), "texts/CPU-s")
			})
		}
	}
}
