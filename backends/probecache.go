package backends

import (
	"context"
	"os"
	"sync"
	"time"
)

// probeCache remembers the programs that worked. Asking all of them takes up
// to a second of every start, as each is an interpreter that starts.
type probeCache struct {
	mu     sync.Mutex
	probes map[program]Probe
}

var worked probeCache

// program is a file at one time: another version has another time or size.
type program struct {
	backend, path string
	modified      time.Time
	size          int64
}

// probe is Backend.Probe for whoever can do with an earlier answer. What
// didn't work is asked each time: the user may have mended it.
func (c *probeCache) probe(ctx context.Context, b Backend) Probe {
	path, err := b.Find()
	if err != nil {
		return Probe{Backend: b, Err: err}
	}
	key, err := programAt(b.Name, path)
	if err != nil {
		return Probe{Backend: b, Path: path, Err: err}
	}
	c.mu.Lock()
	probe, known := c.probes[key]
	c.mu.Unlock()
	if !known {
		probe = b.Probe(ctx)
		c.remember(probe)
	}
	return probe
}

// remember keeps what is known of a program that worked.
func (c *probeCache) remember(p Probe) {
	if p.Err != nil || p.Version == "" {
		return
	}
	key, err := programAt(p.Backend.Name, p.Path)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probes == nil {
		c.probes = map[program]Probe{}
	}
	c.probes[key] = p
}

// programAt is the program of a backend as it is now.
func programAt(backend, path string) (program, error) {
	file, err := os.Stat(path)
	if err != nil {
		return program{}, err
	}
	return program{backend, path, file.ModTime(), file.Size()}, nil
}
