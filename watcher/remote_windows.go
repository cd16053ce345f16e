package watcher

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// remote reports whether a directory lies on another machine.
func remote(dir string) bool {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return true
	}
	name, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(name) == windows.DRIVE_REMOTE
}
