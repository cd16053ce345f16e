//go:build unix

package bunt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/storetest"
)

// The test program runs itself again in these roles.
const (
	roleVar   = "BUNT_TEST_ROLE"
	dirVar    = "BUNT_TEST_DIR"
	roleKill  = "write until killed"
	roleLimit = "write up to a file size limit"
	roleOpen  = "open"
)

// child is what the program does in a role; it returns the exit status.
func child(role string) int {
	ctx := context.Background()
	s, err := open(ctx, os.Getenv(dirVar))
	if role == roleOpen {
		fmt.Println(err, errors.Is(err, fs.ErrPermission))
		return 0
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if role == roleLimit {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 200_000, Max: 200_000}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(fillUp(ctx, s))
		return 0
	}
	for v := 1; ; v++ {
		put := []store.FileRecord{}
		for i := range 4 {
			put = append(put, storetest.Record(fmt.Sprintf("f%d", i), v, 10))
		}
		if err := s.Commit(ctx, put, nil); err != nil {
			fmt.Println(err)
			return 1
		}
		if err := s.PutVectors(ctx, "m", map[store.VectorKey]store.Vector{storetest.Key(v): storetest.Vec(64, v)}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(v)
	}
}

// fillUp writes files until there is no room, and tells how many were
// acknowledged and whether the errors were right.
func fillUp(ctx context.Context, s store.Store) string {
	n := 0
	for ; ; n++ {
		err := s.Commit(ctx, []store.FileRecord{storetest.Record(fmt.Sprintf("f%06d", n), n, 10)}, nil)
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrFull) {
			return "not ErrFull: " + err.Error()
		}
		break
	}
	if got := s.Info().Files; got != n {
		return fmt.Sprintf("%d files were acknowledged and %d are counted", n, got)
	}
	// A shrink has no room either and must lose nothing.
	if err := s.Shrink(ctx); err != nil && !errors.Is(err, store.ErrFull) {
		return "Shrink: " + err.Error()
	}
	if err := s.Close(); err != nil && !errors.Is(err, store.ErrFull) {
		return "Close: " + err.Error()
	}
	return strconv.Itoa(n)
}

func start(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+dir)
	return cmd
}

func TestKilled(t *testing.T) {
	for round := range 5 {
		dir := t.TempDir()
		cmd := start(t, roleKill, dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		acknowledged := 0
		for acknowledged < 20+30*round && lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			must(t, err)
		}
		must(t, cmd.Process.Signal(syscall.SIGKILL))
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				acknowledged = n
			}
		}
		cmd.Wait()
		s := mustOpen(t, dir)
		if info := s.Info(); info.Notice != "" || info.Damaged != 0 || info.Files != 4 || info.Vectors < acknowledged {
			t.Fatalf("after %d acknowledged: %+v", acknowledged, info)
		}
		must(t, s.Files(t.Context(), func(r store.FileRecord) error {
			if int(r.Size) < acknowledged {
				return fmt.Errorf("%s is version %d, %d was acknowledged", r.Path, r.Size, acknowledged)
			}
			if !reflect.DeepEqual(r, storetest.Record(r.Path, int(r.Size), 10)) {
				return fmt.Errorf("%s is neither old nor new", r.Path)
			}
			return nil
		}))
	}
}

// acknowledged checks that a full store holds what fillUp was promised.
func acknowledged(t *testing.T, dir, told string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(told))
	if err != nil || n < 5 {
		t.Fatalf("filling up: %s", told)
	}
	s := mustOpen(t, dir)
	info := s.Info()
	if info.Files != n || info.Notice != "" || info.Damaged != 0 {
		t.Fatalf("%d files were acknowledged: %+v", n, info)
	}
	must(t, s.Files(t.Context(), func(r store.FileRecord) error {
		if !reflect.DeepEqual(r, storetest.Record(r.Path, int(r.Size), 10)) {
			return fmt.Errorf("%s is damaged", r.Path)
		}
		return nil
	}))
}

func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	out, err := start(t, roleLimit, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	acknowledged(t, dir, string(out))
}

func TestUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	cmd := start(t, roleOpen, filepath.Join(dir, "index"))
	if os.Getuid() == 0 { // root may write everywhere
		must(t, os.Chmod(dir, 0o555))
		exe := filepath.Join(t.TempDir(), "child")
		b, err := os.ReadFile(cmd.Path)
		must(t, err)
		must(t, os.WriteFile(exe, b, 0o755))
		for d := filepath.Dir(exe); d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
			must(t, os.Chmod(d, 0o755))
		}
		for d := filepath.Dir(dir); d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
			must(t, os.Chmod(d, 0o755))
		}
		cmd.Path, cmd.Dir = exe, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("cannot run as another user: %v", err)
	}
	if s := string(out); !strings.Contains(s, dir) || !strings.Contains(s, "cannot be written to") || !strings.HasSuffix(s, " true\n") {
		t.Fatalf("open says %s", s)
	}
}
