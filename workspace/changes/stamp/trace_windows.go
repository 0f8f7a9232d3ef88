package stamp

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// basicInfo is FILE_BASIC_INFO. Its times are in 100 ns since 1601.
type basicInfo struct {
	created, accessed, written, changed int64
	attributes                          uint32
}

const from1601To1970 = 116444736000000000

// TraceOf returns what a file can't be changed without changing.
func TraceOf(path string) (Trace, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Trace{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, shared, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return Trace{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(handle), path)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Mode: uint32(info.Mode()), IsDir: info.IsDir(), Size: info.Size(), Modified: info.ModTime().UnixNano()}
	t.Changed = t.Modified // where the disk has no other time
	var basic basicInfo
	if windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)),
		uint32(unsafe.Sizeof(basic))) == nil && basic.changed > 0 {
		t.Changed = (basic.changed - from1601To1970) * 100
	}
	var id windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(handle, &id) == nil {
		t.File = uint64(id.FileIndexHigh)<<32 | uint64(id.FileIndexLow)
	}
	return t, nil
}
