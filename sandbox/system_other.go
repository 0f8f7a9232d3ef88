//go:build !linux

package sandbox

func tempSize() string { return "1073741824" }

func privileges(string) []string { return nil }

func isReadOnly(string) bool { return false }
