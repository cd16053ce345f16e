package watcher

import "golang.org/x/sys/unix"

// remote reports whether a directory's file system can change without this
// machine's kernel knowing: a network's, a virtual machine's host's, or one that
// a program makes up (FUSE).
func remote(dir string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false
	}
	return remoteType(uint32(s.Type))
}

// remoteType knows file systems by their magic numbers (statfs(2),
// linux/magic.h).
func remoteType(magic uint32) bool {
	switch magic {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
		unix.CEPH_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, unix.HOSTFS_SUPER_MAGIC,
		0x786f4256, // vboxsf
		0xbacbacbc, // vmhgfs
		0x7c7c6673, // prl_fs
		0x01161970, // gfs2
		0x0bd00bd0, // Lustre
		0x47504653, // GPFS
		0x19830326, // BeeGFS
		0x20030528, // OrangeFS
		0x564c:     // NCP
		return true
	}
	return false
}
