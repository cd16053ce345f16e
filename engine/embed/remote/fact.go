package remote

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coderag-ls/engine/embed"
)

// fact is what is known of a server's model: enough to begin without it, and to
// recognise it.
type fact struct {
	Endpoint string    `json:"endpoint"`
	Model    string    `json:"model"`
	Known    []float32 `json:"known"` // the vector of the known text
	// ID tells models apart that had the same name at the same place one after the
	// other. Hex.
	ID string `json:"id"`
}

// maxFact bounds the file, in bytes.
const maxFact = 1 << 20

// factFile is where a server's fact lies, "" for nowhere.
func factFile(o Options) string {
	if o.Dir == "" {
		return ""
	}
	return filepath.Join(o.Dir, "embed-server-"+digest(o)+".json")
}

// digest names a server, its model and the length of vectors that is asked for.
func digest(o Options) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", o.Client.Endpoint(), o.Client.Model(), o.Dim))
	return hex.EncodeToString(sum[:8])
}

// readFact reads what is known. What cannot be read, or is damaged, is learnt
// anew.
func readFact(o Options) (fact, error) {
	var f fact
	path := factFile(o)
	if path == "" {
		return f, fs.ErrNotExist
	}
	info, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	if info.Size() > maxFact {
		return f, fmt.Errorf("%s has %d bytes", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("reading %s: %w", path, err)
	}
	n := len(f.Known)
	if n == 0 || n > maxDim || o.Dim > 0 && n != o.Dim || f.ID == "" || f.Model != o.Client.Model() || f.Endpoint != o.Client.Endpoint() {
		return f, fmt.Errorf("%s is damaged", path)
	}
	return f, nil
}

// newFact keeps what was learnt. Where it cannot be kept it is learnt again, and
// the vectors are made again, at the next start.
func newFact(o Options, vector []float32) (fact, error) {
	f := fact{Endpoint: o.Client.Endpoint(), Model: o.Client.Model(), Known: vector}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return f, fmt.Errorf("naming the model: %w", err)
	}
	f.ID = hex.EncodeToString(id)
	path := factFile(o)
	if path != "" {
		_ = write(path, f) // a cache that cannot be written to is told of by the index
	}
	return f, nil
}

func write(path string, f fact) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".embed-server-") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// forget drops what is known: the next Open learns it anew.
func forget(o Options) {
	if path := factFile(o); path != "" {
		_ = os.Remove(path) // where that fails, the next request finds out again
	}
}

// recognises reports whether a vector of the known text is the same model's.
func (f fact) recognises(vector []float32) bool {
	return len(vector) == len(f.Known) && cosine(vector, f.Known) >= same
}

// model describes the vectors: all that changes them is in the fingerprint.
func (f fact) model(o Options) embed.Model {
	sum := sha256.Sum256(fmt.Appendf(nil, "remote\x00%s\x00%s\x00%s\x00%d\x00%q\x00%q", o.Client.Endpoint(), o.Client.Model(), f.ID, len(f.Known), o.QuestionPrefix, o.TextPrefix))
	return embed.Model{Name: o.Client.Model(), Dim: len(f.Known), Fingerprint: hex.EncodeToString(sum[:8]), PathWeight: o.PathWeight}
}
