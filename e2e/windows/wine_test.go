//go:build smoke

package windows

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
)

// lendRandomness puts bcryptprimitives.dll into a folder, without which no program of Go's starts
// and which Wine 8 hasn't. It has no code: its one function is advapi32's.
func lendRandomness(system32 string) error {
	const alignment, base = 0x1000, 0x180000000
	const at = alignment // of the only section, in memory; in the file it begins at 0x200
	type export struct {
		_, _                         uint32 // characteristics, time
		_                            uint32 // version
		Name, First                  uint32
		Functions, Names             uint32 // how many
		AtFunctions, AtNames, AtNums uint32
	}
	const afterExport = at + 40
	dll, name, to := "bcryptprimitives.dll\x00", "ProcessPrng\x00", "ADVAPI32.SystemFunction036\x00"
	atDLL := uint32(afterExport + 4 + 4 + 4)
	atName := atDLL + uint32(len(dll))
	atTo := atName + uint32(len(name))
	var section bytes.Buffer
	put := func(to *bytes.Buffer, values ...any) {
		for _, v := range values {
			binary.Write(to, binary.LittleEndian, v)
		}
	}
	put(&section, export{Name: atDLL, First: 1, Functions: 1, Names: 1, AtFunctions: afterExport, AtNames: afterExport + 4, AtNums: afterExport + 8},
		atTo, atName, uint16(0), uint16(0), []byte(dll+name+to))
	size := uint32(section.Len())

	var file bytes.Buffer
	put(&file, []byte("MZ"), make([]byte, 58), uint32(0x40), // where the header is
		[]byte("PE\x00\x00"), uint16(0x8664), uint16(1), make([]byte, 12), uint16(240), uint16(0x2022), // amd64, a library
		uint16(0x20b), uint16(0), uint32(0), uint32(0x200), uint32(0), uint32(0), uint32(at), // no code, no start
		uint64(base), uint32(alignment), uint32(0x200), uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0),
		uint32(0), uint32(2*alignment), uint32(0x200), uint32(0), uint16(3), uint16(0x100), // console
		uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16),
		uint32(at), size, make([]byte, 15*8), // exports, and no other table
		[]byte(".edata\x00\x00"), size, uint32(at), uint32(0x200), uint32(0x200), make([]byte, 12), uint32(0x40000040))
	file.Write(make([]byte, 0x200-file.Len()))
	section.Write(make([]byte, 0x200-section.Len()))
	file.Write(section.Bytes())
	return os.WriteFile(filepath.Join(system32, "bcryptprimitives.dll"), file.Bytes(), 0o644)
}
