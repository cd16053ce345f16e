package bert

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sugarme/tokenizer/model"
	"github.com/sugarme/tokenizer/model/wordpiece"
)

// maxWordChars is the length in characters from which a word is unknown
// (max_input_chars_per_word of tokenizer.json).
const maxWordChars = 100

// Tokenizer turns text into token ids. It is safe for concurrent use.
type Tokenizer struct {
	pieces        wordpiece.WordPiece
	cls, sep, unk int32
	special       []specialToken
	cache         cache
}

// specialToken is a token that is recognised literally in the raw text, as
// the reference does.
type specialToken struct {
	text string
	id   int32
}

// New makes a tokenizer for a vocabulary that ReadVocab has checked.
func New(vocab []string) *Tokenizer {
	ids := make(model.Vocab, len(vocab))
	for id, token := range vocab {
		ids[token] = id
	}
	builder := wordpiece.NewWordPieceBuilder()
	t := &Tokenizer{
		pieces: builder.Vocab(&ids).UnkToken(tokenUNK).MaxInputCharsPerWord(maxWordChars).Build(),
		cls:    int32(ids[tokenCLS]),
		sep:    int32(ids[tokenSEP]),
		unk:    int32(ids[tokenUNK]),
	}
	for _, token := range []string{tokenPAD, tokenUNK, tokenCLS, tokenSEP, tokenMASK} {
		t.special = append(t.special, specialToken{token, int32(ids[token])})
	}
	return t
}

// Encode returns the ids of text between [CLS] and [SEP], at most limit (at
// least 2) together; the rest of the text is left out. Known tells whether
// any id stands for a piece of the text, that is, is not [UNK].
func (t *Tokenizer) Encode(text string, limit int) (ids []int32, known bool) {
	limit = max(limit, 2)
	ids = append(make([]int32, 0, min(limit, 2+len(text)/2)), t.cls)
	t.words(text, func(pieces []int32, _, _ int) bool {
		for _, id := range pieces {
			if len(ids) == limit-1 {
				return false
			}
			known = known || id != t.unk
			ids = append(ids, id)
		}
		return true
	})
	return append(ids, t.sep), known
}

// words calls yield for each word of text in order with its ids and the bytes
// of text that it came from, until yield returns false.
func (t *Tokenizer) words(text string, yield func(pieces []int32, start, end int) bool) {
	going := true
	word := func(w []byte, start, end int) bool {
		going = yield(t.word(w), start, end)
		return going
	}
	from := 0
	for going {
		at, token := t.nextSpecial(text, from)
		split(text, from, at, word)
		if !going || token == nil {
			return
		}
		from = at + len(token.text)
		going = yield([]int32{token.id}, at, from)
	}
}

// nextSpecial finds the first special token at or after from; without one it returns the
// text's length and nil.
func (t *Tokenizer) nextSpecial(text string, from int) (int, *specialToken) {
	for i := from; ; i++ {
		j := strings.IndexByte(text[i:], '[')
		if j < 0 {
			return len(text), nil
		}
		i += j
		for k := range t.special {
			if strings.HasPrefix(text[i:], t.special[k].text) {
				return i, &t.special[k]
			}
		}
	}
}

// word returns the ids of one normalised word.
func (t *Tokenizer) word(w []byte) []int32 {
	if utf8.RuneCount(w) > maxWordChars {
		return []int32{t.unk}
	}
	if ids, ok := t.cache.get(w); ok {
		return ids
	}
	word := string(w)
	ids := t.wordPiece(word)
	t.cache.put(word, ids)
	return ids
}

// wordPiece asks the library. Should it panic on a word, that word is unknown:
// one odd word must not cost the text its vector.
func (t *Tokenizer) wordPiece(word string) (ids []int32) {
	defer func() {
		if recover() != nil {
			ids = []int32{t.unk}
		}
	}()
	tokens, err := t.pieces.Tokenize(word)
	if err != nil {
		return []int32{t.unk}
	}
	ids = make([]int32, len(tokens))
	for i, token := range tokens {
		ids[i] = int32(token.Id)
	}
	return ids
}

// Windows cuts text into overlapping parts of at most limit tokens each,
// [CLS] and [SEP] included, that overlap by about overlap tokens. Cuts
// are between words. A text that fits is its only window.
func (t *Tokenizer) Windows(text string, limit, overlap int) []string {
	type span struct{ start, end, tokens int }
	var words []span
	total := 0
	t.words(text, func(pieces []int32, start, end int) bool {
		words = append(words, span{start, end, len(pieces)})
		total += len(pieces)
		return true
	})
	room := max(limit-2, 1)
	if total <= room {
		return []string{text}
	}
	overlap = min(max(overlap, 0), room/2)
	var windows []string
	for first := 0; ; {
		last, used := first, words[first].tokens
		for last+1 < len(words) && used+words[last+1].tokens <= room {
			last++
			used += words[last].tokens
		}
		windows = append(windows, text[words[first].start:words[last].end])
		if last+1 == len(words) {
			return windows
		}
		next, shared := last+1, 0
		for next-1 > first && shared+words[next-1].tokens <= overlap {
			next--
			shared += words[next].tokens
		}
		first = next
	}
}

// cacheWords is the number of words in each of the cache's two generations:
// about 4 MB together.
const cacheWords = 1 << 14

// cache remembers the ids of recent words: source code repeats its words, and
// the library takes a microsecond per piece. When the young generation is
// full it becomes the old one.
type cache struct {
	mu         sync.RWMutex
	young, old map[string][]int32
}

func (c *cache) get(word []byte) ([]int32, bool) {
	c.mu.RLock()
	ids, ok := c.young[string(word)]
	if ok {
		c.mu.RUnlock()
		return ids, true
	}
	ids, ok = c.old[string(word)]
	c.mu.RUnlock()
	if ok {
		c.put(string(word), ids)
	}
	return ids, ok
}

func (c *cache) put(word string, ids []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheWords {
		c.old, c.young = c.young, make(map[string][]int32, cacheWords/4)
	}
	c.young[word] = ids
}
