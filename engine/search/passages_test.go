package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/search"
	"coderag-ls/engine/search/searchtest"
)

// decoder is a file in which much repeats the words of what one function does:
// its header, a constant, a caller's type, the tests beside it.
func decoder() map[string]string {
	filler := ""
	for i := range 6 {
		filler += fmt.Sprintf("\nfn helper_%d(count: usize) -> usize {\n    let mut sum = count;\n    for step in 0..%d {\n        sum += step * 3;\n    }\n    sum\n}\n", i, i+4)
	}
	return map[string]string{
		"src/decoder.rs": `// Decoding of messages that come in pieces: length line, extension, hexadecimal.
use std::io::{self, Read};

const LENGTH_LINE: usize = 16;

pub struct Decoder<R> {
    source: R,
    left: usize,
}

impl<R: Read> Decoder<R> {
    fn read_size(&mut self) -> io::Result<usize> {
        let mut digits = Vec::new();
        let mut in_extension = false;
        loop {
            let byte = self.next_byte()?;
            match byte {
                b'\r' => break,
                b';' => in_extension = true,
                b if !in_extension => digits.push(b),
                _ => continue,
            }
        }
        let text = std::str::from_utf8(&digits).map_err(|_| io::ErrorKind::InvalidData)?;
        usize::from_str_radix(text.trim(), 16).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}
` + filler + `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_size_with_extension() {
        let mut decoder = Decoder { source: "a;extension=hexadecimal\r\n".as_bytes(), left: 0 };
        assert_eq!(decoder.read_size().unwrap(), 10);
    }
}
`,
		"src/lib.rs": "pub mod decoder;\n",
	}
}

// TestFunctionsLeadTheirFile: of a file's chunks the function that does it
// leads, not a constant, a header or a test that has the words.
func TestFunctionsLeadTheirFile(t *testing.T) {
	w := searchtest.New(t, decoder())
	for _, q := range []string{"read the size in hexadecimal and skip the extension", "how is the size of a piece read, without its extension"} {
		for _, hybrid := range []bool{true, false} {
			in := w.Input(q)
			in.Settings.MinRelevance, in.Settings.Hybrid = 0, hybrid
			res := w.Search(in)
			if len(res.Hits) == 0 {
				t.Fatalf("%q: no hit", q)
			}
			if d := in.Snapshot.Doc(res.Hits[0].Ref); !slices.Contains(d.Symbols, "read_size") {
				t.Errorf("%q (hybrid %v): %s:%d-%d %s leads", q, hybrid, d.File.Path, d.StartLine, d.EndLine, d.Name)
			}
		}
	}
	in := w.Input("tests of the size with an extension")
	in.Settings.MinRelevance = 0
	if d := in.Snapshot.Doc(w.Search(in).Hits[0].Ref); !strings.Contains(d.Name, "test") {
		t.Errorf("asked for tests: %s:%d-%d %s leads", d.File.Path, d.StartLine, d.EndLine, d.Name)
	}
}

// TestPassagesAreTold: where it is asked for, a file's chunks come with what
// their scores are made of, and the best of them leads.
func TestPassagesAreTold(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed")
	if res := w.Search(in); len(res.Files) == 0 || res.Files[0].Passages != nil {
		t.Fatal("passages are told without being asked for")
	}
	in.Passages = true
	res := w.Search(in)
	if len(search.PassageFeatureNames()) != len(search.PassageFeatures{}) {
		t.Error("not every feature of a passage has a name")
	}
	best := res.Files[0].Passages[0]
	for _, p := range res.Files[0].Passages {
		if p.Score > best.Score {
			best = p
		}
	}
	if best.Ref != res.Hits[0].Ref || best.Score != res.Hits[0].Odds {
		t.Errorf("the best passage is %+v, the first hit %+v", best, res.Hits[0])
	}
}
