package modeldir

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// MinVersion is the oldest onnxruntime 1.x that offers the API version which
// the Go binding asks for (24).
const MinVersion = 24

// entry is the one function by which the binding reaches a library.
const entry = "OrtGetApiBase"

// ErrLibrary is wrapped by every error about a file that cannot be used as
// onnxruntime library.
var ErrLibrary = errors.New("not a usable onnxruntime library")

// Library is what a library file tells of itself.
type Library struct {
	Version string // "1.31.1", empty where the file does not say
}

// CheckLibrary looks into the file at path without loading it: loading runs
// its code, and a damaged one can end the process. It must be a complete
// shared library for this system that exports the entry point and is
// not known to be too old. Errors wrap ErrLibrary.
func CheckLibrary(path string) (Library, error) {
	return CheckLibraryFor(path, runtime.GOOS, runtime.GOARCH)
}

// CheckLibraryFor is CheckLibrary for another system, in Go's names.
func CheckLibraryFor(path, goos, goarch string) (lib Library, err error) {
	defer func() {
		// debug/* is robust but not guaranteed not to panic on hostile files.
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w: %w", path, ErrLibrary, err)
		}
	}()
	st, err := os.Stat(path)
	if err != nil {
		return Library{}, err
	}
	if !st.Mode().IsRegular() {
		return Library{}, errors.New("no regular file")
	}
	switch goos {
	case "windows":
		return lib, checkPE(path, goarch, st.Size())
	case "darwin", "ios":
		return lib, checkMachO(path, goarch, st.Size())
	}
	return checkELF(path, goarch, st.Size())
}

func checkELF(path, goarch string, size int64) (Library, error) {
	f, err := elf.Open(path)
	if err != nil {
		return Library{}, fmt.Errorf("no ELF shared library: %w", err)
	}
	defer f.Close()
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "arm": elf.EM_ARM, "riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "loong64": elf.EM_LOONGARCH}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return Library{}, fmt.Errorf("made for %v, this program is for %v", f.Machine, want)
	}
	if f.Type != elf.ET_DYN {
		return Library{}, fmt.Errorf("%v, not a shared library", f.Type)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(size) {
			return Library{}, fmt.Errorf("truncated: %d bytes, needs %d", size, p.Off+p.Filesz)
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return Library{}, fmt.Errorf("reading its symbols: %w", err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == entry && s.Section != elf.SHN_UNDEF })
	if i < 0 {
		return Library{}, fmt.Errorf("does not export %s", entry)
	}
	lib := Library{Version: strings.TrimPrefix(symbols[i].Version, "VERS_")}
	return lib, checkVersion(lib.Version)
}

var versionPattern = regexp.MustCompile(`^1\.(\d{1,4})(\.|$)`)

func checkVersion(version string) error {
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		return nil // unknown: the binding asks when it loads
	}
	if minor, err := strconv.Atoi(m[1]); err == nil && minor < MinVersion {
		return fmt.Errorf("version %s is too old, 1.%d or later is needed", version, MinVersion)
	}
	return nil
}

func checkMachO(path, goarch string, size int64) error {
	cpu := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[goarch]
	f, err := macho.Open(path)
	var format *macho.FormatError
	if errors.As(err, &format) { // perhaps several architectures in one file
		fat, fatErr := macho.OpenFat(path)
		if fatErr != nil {
			return fmt.Errorf("no Mach-O library: %w", err)
		}
		defer fat.Close()
		for _, a := range fat.Arches {
			if a.Cpu == cpu {
				return checkMachOFile(a.File, int64(a.Size))
			}
		}
		return fmt.Errorf("holds no code for %s", goarch)
	}
	if err != nil {
		return fmt.Errorf("no Mach-O library: %w", err)
	}
	defer f.Close()
	if f.Cpu != cpu {
		return fmt.Errorf("made for %v, this program is for %s", f.Cpu, goarch)
	}
	return checkMachOFile(f, size)
}

func checkMachOFile(f *macho.File, size int64) error {
	if f.Type != macho.TypeDylib {
		return fmt.Errorf("%v, not a shared library", f.Type)
	}
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok && s.Offset+s.Filesz > uint64(size) {
			return fmt.Errorf("truncated: %d bytes, needs %d", size, s.Offset+s.Filesz)
		}
	}
	if f.Symtab != nil && !slices.ContainsFunc(f.Symtab.Syms, func(s macho.Symbol) bool { return s.Name == "_"+entry && s.Sect != 0 }) {
		return fmt.Errorf("does not export %s", entry)
	}
	return nil
}

func checkPE(path, goarch string, size int64) error {
	f, err := pe.Open(path)
	if err != nil {
		return fmt.Errorf("no Windows library: %w", err)
	}
	defer f.Close()
	machines := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64, "386": pe.IMAGE_FILE_MACHINE_I386}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return fmt.Errorf("made for machine %#x, this program is for %#x", f.Machine, want)
	}
	if f.Characteristics&pe.IMAGE_FILE_DLL == 0 {
		return errors.New("not a shared library")
	}
	for _, s := range f.Sections {
		if end := int64(s.Offset) + int64(s.Size); end > size {
			return fmt.Errorf("truncated: %d bytes, needs %d", size, end)
		}
	}
	names, err := peExports(f)
	if err != nil {
		return fmt.Errorf("reading its exports: %w", err)
	}
	if !slices.Contains(names, entry) {
		return fmt.Errorf("does not export %s", entry)
	}
	return nil
}

// peExports reads the names of the export directory (PE format, section
// ".edata": number of names at 24, address of the name pointers at 32).
func peExports(f *pe.File) ([]string, error) {
	h, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok || h.NumberOfRvaAndSizes == 0 {
		return nil, nil
	}
	at := func(rva uint32, n int) ([]byte, error) {
		for _, s := range f.Sections {
			if rva < s.VirtualAddress || rva-s.VirtualAddress >= s.Size {
				continue
			}
			b := make([]byte, min(n, int(s.Size-(rva-s.VirtualAddress))))
			_, err := s.ReadAt(b, int64(rva-s.VirtualAddress))
			return b, err
		}
		return nil, fmt.Errorf("address %#x lies in no section", rva)
	}
	directory, err := at(h.DataDirectory[0].VirtualAddress, 40)
	if err != nil || len(directory) < 40 {
		return nil, err
	}
	count := binary.LittleEndian.Uint32(directory[24:])
	pointers, err := at(binary.LittleEndian.Uint32(directory[32:]), int(min(count, 1<<16))*4)
	if err != nil {
		return nil, err
	}
	var names []string
	for ; len(pointers) >= 4; pointers = pointers[4:] {
		raw, err := at(binary.LittleEndian.Uint32(pointers), 256)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(string(raw), "\x00")
		names = append(names, name)
	}
	return names, nil
}
