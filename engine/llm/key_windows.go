package llm

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/windows"
)

// ownersOnly refuses a file that everybody may read: one whose access list
// grants something to Everyone, Users or Authenticated Users.
func ownersOnly(path string, _ fs.FileInfo) error {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("looking who may read key file %s: %w", path, err)
	}
	acl, _, err := sd.DACL()
	if err != nil || acl == nil {
		return fmt.Errorf("key file %s can be read by everybody: restrict it to yourself", path)
	}
	var many []*windows.SID
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{windows.WinWorldSid, windows.WinBuiltinUsersSid, windows.WinAuthenticatedUserSid} {
		if sid, err := windows.CreateWellKnownSid(kind); err == nil {
			many = append(many, sid)
		}
	}
	for i := range uint32(acl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &ace); err != nil || ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			continue
		}
		for _, sid := range many {
			if windows.EqualSid(sid, sidOf(ace)) {
				return fmt.Errorf("key file %s can be read by other users: restrict it to yourself", path)
			}
		}
	}
	return nil
}
