//go:build !linux

package sandbox

import "io/fs"

func tempSize() string { return "1073741824" }

func privileges(string) []string { return nil }

func isReadOnly(string) bool { return false }

func links(fs.FileInfo) uint64 { return 1 }
