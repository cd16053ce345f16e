package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// Inventory lists what the view can find: a line for each file, and below it
// one for each of its chunks and symbols, in path order. Two views of the same
// texts have the same inventory, however they came to it; tests hold an index
// that followed many changes against one made from nothing.
func (v *View) Inventory(ctx context.Context) ([]string, error) {
	st, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	var vector []float32
	var bits []byte
	for _, f := range st.snap.Files() {
		imports := make([]string, len(f.Imports))
		for i, im := range f.Imports {
			imports[i] = fmt.Sprint(im)
		}
		lines = append(lines, fmt.Sprintf("%s %x %v provisional=%v imports=%s", f.Path, f.Hash[:6], f.Class, f.Provisional, strings.Join(imports, ",")))
		for _, r := range st.snap.DocsOf(f) {
			d := st.snap.Doc(r)
			line := fmt.Sprintf("  %s %s %d-%d %x %s %q", f.Path, d.ID, d.StartLine, d.EndLine, d.Hash[:6], d.Kind, d.Name)
			for _, m := range st.snap.Models() {
				var ok bool
				if vector, ok = st.snap.Vector(m.Fingerprint, r, vector[:0]); !ok {
					line += fmt.Sprintf(" %s=none", m.Name)
					continue
				}
				bits = bits[:0]
				for _, x := range vector {
					bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(x))
				}
				line += fmt.Sprintf(" %s=%08x", m.Name, crc32.ChecksumIEEE(bits))
			}
			lines = append(lines, line)
		}
		for _, s := range f.Symbols {
			lines = append(lines, fmt.Sprintf("  %s %s %q %d-%d at %d", f.Path, s.Kind, s.Name, s.StartLine, s.EndLine, s.NameLine))
		}
	}
	return lines, nil
}
