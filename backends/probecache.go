package backends

import (
	"context"
	"os"
	"sync"
	"time"
)

// worked has the Probe of each program that worked. Asking all of them takes up
// to a second of every start, as each is an interpreter that starts.
var worked sync.Map

// program is a file at one time: another version has another time or size.
type program struct {
	backend, path string
	modified      time.Time
	size          int64
}

// knownProbe is Probe for callers that can use an earlier answer. A failure is tried again each time: the user may
// have mended it.
func (b Backend) knownProbe(ctx context.Context) Probe {
	path, err := b.Find()
	if err != nil {
		return Probe{Backend: b, Err: err}
	}
	key, err := programAt(b.Name, path)
	if err != nil {
		return Probe{Backend: b, Path: path, Err: err}
	}
	if probe, ok := worked.Load(key); ok {
		return probe.(Probe)
	}
	probe := b.Probe(ctx)
	probe.remember()
	return probe
}

// remember keeps what is known of a program that worked.
func (p Probe) remember() {
	if p.Err != nil || p.Version == "" {
		return
	}
	if key, err := programAt(p.Backend.Name, p.Path); err == nil {
		worked.Store(key, p)
	}
}

// programAt is the program of a backend as it is now.
func programAt(backend, path string) (program, error) {
	file, err := os.Stat(path)
	if err != nil {
		return program{}, err
	}
	return program{backend, path, file.ModTime(), file.Size()}, nil
}
