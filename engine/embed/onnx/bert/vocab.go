package bert

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// The tokens that every vocabulary must have.
const (
	tokenCLS  = "[CLS]"
	tokenSEP  = "[SEP]"
	tokenPAD  = "[PAD]"
	tokenUNK  = "[UNK]"
	tokenMASK = "[MASK]"
)

// Limits of a vocabulary file: what no BERT vocabulary comes near.
const (
	maxVocab     = 1 << 20
	maxVocabLine = 1 << 10 // bytes
)

// ErrVocab is wrapped by every error about the content of a vocabulary.
var ErrVocab = errors.New("invalid vocabulary")

// OpenVocab reads the vocab.txt at path: one token a line, its line number the id.
func OpenVocab(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the vocabulary: %w", err)
	}
	defer f.Close()
	vocab, err := ReadVocab(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return vocab, nil
}

// ReadVocab reads a vocabulary and checks that tokens are unique and that the
// special ones are there.
func ReadVocab(r io.Reader) ([]string, error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 4096), maxVocabLine)
	var vocab []string
	ids := map[string]int{}
	for scanner.Scan() {
		token := scanner.Text()
		line := len(vocab) + 1
		if token == "" {
			return nil, fmt.Errorf("%w: line %d is empty", ErrVocab, line)
		}
		if first, ok := ids[token]; ok {
			return nil, fmt.Errorf("%w: line %d repeats %q of line %d", ErrVocab, line, token, first)
		}
		if line > maxVocab {
			return nil, fmt.Errorf("%w: more than %d lines", ErrVocab, maxVocab)
		}
		ids[token] = line
		vocab = append(vocab, token)
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%w: line %d is longer than %d bytes", ErrVocab, len(vocab)+1, maxVocabLine)
	} else if err != nil {
		return nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	for _, token := range []string{tokenCLS, tokenSEP, tokenPAD, tokenUNK, tokenMASK} {
		if ids[token] == 0 {
			return nil, fmt.Errorf("%w: %s is missing", ErrVocab, token)
		}
	}
	return vocab, nil
}
