package memory

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machine is the machine's memory in bytes, 0 where that is not known.
func machine() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}

// granted is what the process's control groups let it have, in bytes; 0 for no
// limit.
func granted() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return grantedBy(string(groups), "/sys/fs/cgroup")
}

// grantedBy reads the memory limits of the groups that /proc/self/cgroup names
// (cgroups(7)), version 2 or 1, and of those they are in: the lowest holds.
func grantedBy(groups, mount string) int64 {
	least := int64(0)
	look := func(file string) {
		data, err := os.ReadFile(file)
		if err != nil {
			return
		}
		// "max" and version 1's huge number mean that there is no limit.
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && n > 0 && n < 1<<60 && (least == 0 || n < least) {
			least = n
		}
	}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		dir, name := "", "memory.max"
		switch {
		case parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			dir, name = "memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be the host's: the mount's own files count.
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			look(filepath.Join(mount, dir, filepath.FromSlash(at), name))
			if at == "/" {
				break
			}
		}
	}
	return least
}
