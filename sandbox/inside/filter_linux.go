package inside

import (
	"runtime"
	"syscall"
	"unsafe"
)

// calls are the numbers of system calls in one of the machine's ways to make them.
type calls struct {
	arch                   uint32
	clone, unshare, clone3 uint32
	keys                   [3]uint32 // add_key, request_key, keyctl
	x32                    bool      // others are made with a bit more
}

// ways has the calling conventions of a machine, its own first.
var ways = map[string][]calls{
	"amd64": {
		{arch: 0xc000003e, clone: 56, unshare: 272, clone3: 435, keys: [3]uint32{248, 249, 250}, x32: true},
		{arch: 0x40000003, clone: 120, unshare: 310, clone3: 435, keys: [3]uint32{286, 287, 288}},
	},
	"arm64": {
		{arch: 0xc00000b7, clone: 220, unshare: 97, clone3: 435, keys: [3]uint32{217, 218, 219}},
		{arch: 0x40000028, clone: 120, unshare: 337, clone3: 435, keys: [3]uint32{309, 310, 311}},
	},
}

// seccomp is that call's own number.
var seccomp = map[string]uintptr{"amd64": 317, "arm64": 277}

// Instructions of filters, and what they answer.
const (
	load  = 0x20 // a word of the call's: at 0 is its number, at 4 the way, at 16 its first argument
	equal = 0x15
	above = 0x35 // or equal
	bits  = 0x45
	say   = 0x06

	allowed = 0x7fff0000
	refused = 0x00050000 // with an error's number

	newUser   = 0x10000000 // CLONE_NEWUSER
	x32Bit    = 0x40000000
	setFilter = 1 // SECCOMP_SET_MODE_FILTER
)

type instruction struct {
	code    uint16
	yes, no uint8
	k       uint32
}

// filter refuses the keys that the kernel keeps for the user. Alone, it refuses user namespaces as
// well: in one of its own, root has privileges again over what belongs to root.
func filter(alone bool, machine string) (program []instruction) {
	refuse := func(number uint32, why syscall.Errno) []instruction {
		return []instruction{{equal, 0, 1, number}, {say, 0, 0, refused | uint32(why)}}
	}
	for _, way := range ways[machine] {
		var body []instruction
		if way.x32 {
			body = append(body, instruction{above, 0, 1, x32Bit}, instruction{say, 0, 0, refused | uint32(syscall.ENOSYS)})
		}
		for _, number := range way.keys {
			body = append(body, refuse(number, syscall.EPERM)...)
		}
		if alone {
			body = append(body, refuse(way.clone3, syscall.ENOSYS)...) // its flags can't be seen; programs then call clone
			for _, number := range []uint32{way.clone, way.unshare} {
				body = append(body, instruction{equal, 0, 4, number}, instruction{load, 0, 0, 16},
					instruction{bits, 0, 1, newUser}, instruction{say, 0, 0, refused | uint32(syscall.EPERM)}, instruction{say, 0, 0, allowed})
			}
		}
		body = append(body, instruction{say, 0, 0, allowed})
		program = append(program, instruction{load, 0, 0, 4}, instruction{equal, 0, uint8(len(body) + 1), way.arch}, instruction{load, 0, 0, 0})
		program = append(program, body...)
	}
	return append(program, instruction{say, 0, 0, refused | uint32(syscall.ENOSYS)}) // a way that nobody knows
}

// refuse has the kernel refuse calls from now on. Walls have taken new privileges away before.
func refuse(alone bool) error {
	call, ok := seccomp[runtime.GOARCH]
	if !ok {
		return nil
	}
	program := filter(alone, runtime.GOARCH)
	said := struct {
		length uint16
		first  *instruction
	}{uint16(len(program)), &program[0]}
	if _, _, errno := syscall.RawSyscall(call, setFilter, 0, uintptr(unsafe.Pointer(&said))); errno != 0 {
		return errno
	}
	return nil
}
