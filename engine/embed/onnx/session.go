package onnx

import (
	"errors"
	"fmt"
	"os"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// loaded is the library of this process. The binding keeps its state in
// package variables, so there can be one only; it is never unloaded, because
// a library with its own threads and thread-local state cannot be unloaded safely.
var loaded struct {
	mu   sync.Mutex
	path string
}

// load loads the library at path, unless it already is.
func load(path string) error {
	loaded.mu.Lock()
	defer loaded.mu.Unlock()
	if loaded.path != "" {
		if loaded.path == path || sameFile(loaded.path, path) {
			return nil
		}
		return fmt.Errorf("%s: %w: %s is already loaded; restart to use another one", path, ErrLibrary, loaded.path)
	}
	ort.SetSharedLibraryPath(path)
	// Errors come back as values; the runtime's own log would go to stderr.
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return fmt.Errorf("%s: %w: loading it (1.24 or later is needed): %w", path, ErrLibrary, err)
	}
	loaded.path = path
	if err := ort.DisableTelemetry(); err != nil {
		return fmt.Errorf("%s: turning telemetry off: %w", path, err)
	}
	return nil
}

func sameFile(a, b string) bool {
	sa, errA := os.Stat(a)
	sb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(sa, sb)
}

// session is one loaded model. run is safe for concurrent use; close must not
// overlap with it.
type session struct {
	s   *ort.DynamicAdvancedSession
	dim int
}

// openSession loads the library and the model file.
func openSession(library, model string, dim int) (*session, error) {
	if err := load(library); err != nil {
		return nil, err
	}
	options, err := sessionOptions()
	if err != nil {
		return nil, fmt.Errorf("setting up onnxruntime: %w", err)
	}
	defer options.Destroy()
	s, err := ort.NewDynamicAdvancedSession(model, []string{"input_ids", "attention_mask"}, []string{"embedding"}, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", model, ErrDamaged, err)
	}
	return &session{s: s, dim: dim}, nil
}

// sessionOptions are one thread per run, none that spins, and little memory
// kept between runs.
func sessionOptions() (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		o.SetIntraOpNumThreads(1),
		o.SetInterOpNumThreads(1),
		o.SetCpuMemArena(true), // without it malloc keeps more: 131 MB against 98
		o.SetMemPattern(false), // made for fixed shapes; every text has its own
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
		o.AddSessionConfigEntry("session.inter_op.allow_spinning", "0"),
		o.AddSessionConfigEntry("session.use_device_allocator_for_initializers", "1"),
	)
	if err != nil {
		o.Destroy()
		return nil, err
	}
	return o, nil
}

// run returns the vector of one text's ids.
func (s *session) run(ids []int32) (vector []float32, err error) {
	mask := make([]int32, len(ids))
	for i := range mask {
		mask[i] = 1
	}
	vector = make([]float32, s.dim)
	shape := ort.NewShape(1, int64(len(ids)))
	var values []ort.Value
	defer func() {
		for _, v := range values {
			err = errors.Join(err, v.Destroy())
		}
	}()
	for _, data := range [][]int32{ids, mask} {
		t, err := ort.NewTensor(shape, data)
		if err != nil {
			return nil, fmt.Errorf("embedding a text of %d tokens: %w", len(ids), err)
		}
		values = append(values, t)
	}
	out, err := ort.NewTensor(ort.NewShape(1, int64(s.dim)), vector)
	if err != nil {
		return nil, fmt.Errorf("embedding a text of %d tokens: %w", len(ids), err)
	}
	values = append(values, out)
	if err := s.s.Run(values[:2], values[2:]); err != nil {
		return nil, fmt.Errorf("embedding a text of %d tokens: %w", len(ids), err)
	}
	for _, v := range vector {
		if v-v != 0 {
			return nil, fmt.Errorf("embedding a text of %d tokens: the model gave a value that is no number", len(ids))
		}
	}
	return vector, nil
}

func (s *session) close() error {
	if err := s.s.Destroy(); err != nil {
		return fmt.Errorf("closing the model: %w", err)
	}
	return nil
}
