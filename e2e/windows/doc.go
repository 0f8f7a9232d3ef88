// Package windows runs the Windows program, on Windows or by Wine on Linux, and counts who
// survives each of its ends:
//
//	make windows-smoke
package windows
