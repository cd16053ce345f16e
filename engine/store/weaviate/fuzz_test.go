package weaviate

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
)

// FuzzAnswers reads any body as each of the engine's answers: none may panic, and
// what is taken is sound.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		`{"data":{"Get":{"C":[{"repository":"r","path":"p","ordinal":1,"_additional":{"score":"1.5","id":"x"}}]}}}`,
		`{"data":{"Get":{"C":[{"repository":"r","path":"p","ordinal":1,"_additional":{"distance":0.5}}]}}}`,
		`{"data":{"Get":{"C":null}},"errors":[{"message":"no","path":["Get"]}]}`,
		`{"data":{"Get":{"C":[{"repository":"r","data":"{}","_additional":{"id":"a","isConsistent":true}}]}}}`,
		`[{"id":"a","result":{"status":"SUCCESS"}},{"id":"b","result":{"status":"FAILED","errors":{"error":[{"message":"m"}]}}}]`,
		`{"data":{"Get":{"C":[{"ordinal":1e300}]}}}`, `null`, `[]`, `{"data":7}`, `{"error":[{"message":"x"}]}`, "\xff",
	} {
		f.Add([]byte(s))
	}
	objects := []object{{ID: "a"}, {ID: "b"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		said(body)
		_ = parseBatch(body, objects)
		data, err := parseGraphQL(body)
		if err != nil {
			return
		}
		if found, err := parseFound(data, "C"); err == nil {
			for _, one := range found {
				if one.Path == "" || one.Ordinal < 0 {
					t.Errorf("%+v", one)
				}
			}
		}
		_ = parseHeads(data, "C", map[string]headObject{})
		_, _ = parseObjects(data, "C", true)
		if page, err := parseScan(data, "C", true); err == nil {
			for _, one := range page {
				if one.id == "" || one.Ordinal < 0 {
					t.Errorf("%+v", one)
				}
			}
		}
	})
}

// FuzzContents reads any bytes as each of what objects hold.
func FuzzContents(f *testing.F) {
	d := sharedindex.Document{Text: "text", Commit: "c", Vectors: []store.Vector{{Scale: 1, Values: []int8{1, -1}}, {}}}
	d.Record.Path = "a/b.go"
	d.Record.File.Chunks = []chunk.Chunk{{Path: "a/b.go", Name: "F"}, {Path: "a/b.go"}}
	value, err := packDocument(&d)
	if err != nil {
		f.Fatal(err)
	}
	b, err := unseal(value)
	if err != nil {
		f.Fatal(err)
	}
	got, err := unpackDocument(value)
	if err != nil || !reflect.DeepEqual(got, d) {
		f.Fatalf("%+v, %v", got, err)
	}
	f.Add(b)
	f.Add(appendChanges(nil, []change{{key: "a/b", value: "x"}, {key: "a/c", gone: true}, {key: "", value: ""}}))
	f.Add(appendRoot(nil, &root{Epoch: 3, Logs: []string{"l"}, Garbage: []string{"g"}}))
	p := part{of: 4, df: map[string]int{"a": 1, "abc": 3, "": 2}}
	packed, err := p.content()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	e := entry{state: pending, chunks: 3}
	f.Add([]byte(e.value()))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, content []byte) {
		if _, err := unpackDocument(seal(content)); err != nil && !errors.Is(err, errDamaged) {
			t.Error(err)
		}
		_, _ = unseal(string(content))
		if e, err := decodeEntry(string(content)); err == nil {
			if again, err := decodeEntry(e.value()); err != nil || again != e {
				t.Errorf("%+v became %+v, %v", e, again, err)
			}
		}
		if p, err := decodePart(content); err == nil {
			packed, err := p.content()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := decodePart(packed); err != nil || !reflect.DeepEqual(again, p) {
				t.Errorf("%+v became %+v, %v", p, again, err)
			}
		}
		if r, err := decodeRoot(content); err == nil {
			if again, err := decodeRoot(appendRoot(nil, &r)); err != nil || !reflect.DeepEqual(again, r) {
				t.Errorf("%+v became %+v, %v", r, again, err)
			}
		}
		if c, err := decodeChanges(content); err == nil {
			if again, err := decodeChanges(appendChanges(nil, c)); err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%+v became %+v, %v", c, again, err)
			}
		}
	})
}

// FuzzQuote: a quoted string is JSON of the same string, apart from what is no
// UTF-8, so that nothing in it ends it.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{`"`, `\`, "\n", "\x00", "日本", "\u2028", "\xff", `"){x}`, "\U0001f600", "\ufeff", "\u007f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal([]byte(quote(s)), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && back != string([]rune(s)) {
			t.Errorf("%q became %s: %q, %v", s, quote(s), back, err)
		}
		if p, err := decodePath(encodePath(s)); err != nil || p != s {
			t.Errorf("path %q became %q, %v", s, p, err)
		}
	})
}

// TestBatchErrors: each object's own result counts.
func TestBatchErrors(t *testing.T) {
	// What is wrong with the object is not tried elsewhere, what is wrong with the nodes is.
	for message, want := range map[string]kind{
		"new node has a vector with length 3. Existing nodes have vectors with length 8": refused,
		"invalid blob property 'data' on class 'C'":                                      refused,
		"cannot achieve consistency level \"QUORUM\"":                                    failed,
	} {
		body := `[{"id":"a","result":{"status":"FAILED","errors":{"error":[{"message":` + quote(message) + `}]}}}]`
		if got := judge(parseBatch([]byte(body), []object{{ID: "a"}})); got != want {
			t.Errorf("%s: %v, want %v", message, got, want)
		}
	}
	objects := []object{{ID: "a"}, {ID: "b", Properties: map[string]any{propPath: "b.go"}}}
	ok := `{"id":"a","result":{"status":"SUCCESS"}}`
	for body, says := range map[string]string{
		`[` + ok + `,{"id":"b","result":{"status":"SUCCESS"}}]`:                                              "",
		`[` + ok + `,{"id":"b","result":{"status":"FAILED","errors":{"error":[{"message":"no replica"}]}}}]`: "b.go was not written (FAILED): no replica",
		`[` + ok + `,{"id":"b"}]`: "b.go was not written",
		`[` + ok + `]`:            "2 objects were sent and 1 answered",
		`[` + ok + `,` + ok + `]`: "and not b",
		`[]`:                      "0 answered",
	} {
		err := parseBatch([]byte(body), objects)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", body, err)
		}
		var status *statusError
		if strings.Contains(says, "FAILED") && (!errors.As(err, &status) || status.status != http.StatusInternalServerError) {
			t.Errorf("%v is not to be tried elsewhere", err)
		}
	}
}

// TestBlock: a block that claims more than it can hold is refused before room is made for it.
func TestBlock(t *testing.T) {
	b, err := appendBlock(nil, bytes.Repeat([]byte("x"), 100_000))
	if err != nil {
		t.Fatal(err)
	}
	r := reader{b: b}
	if got := r.block(); len(got) != 100_000 || r.done() != nil {
		t.Fatalf("%d bytes, %v", len(got), r.done())
	}
	for _, bad := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0), {0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0}} {
		r := reader{b: bad}
		if r.block(); r.done() == nil {
			t.Errorf("%d bytes were taken", len(bad))
		}
	}
}
