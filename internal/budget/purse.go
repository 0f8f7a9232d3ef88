package budget

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxPurse bounds the file of a purse, in bytes.
const maxPurse = 1 << 10

// Purse is what a file says by which a loop tells the loops of its agents what is left, or these it what they spent: how many dollars; nil: no limit.
type Purse struct {
	USD *float64 `json:"usd"`
}

// ReadPurse reads a file of a till, as far as it is one: an agent might put a pipe or a link there.
func ReadPurse(name string) (p Purse) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return p
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be another by now
	if err != nil {
		return p
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPurse+1))
	if err != nil || len(data) > maxPurse || json.Unmarshal(data, &p) != nil {
		return Purse{}
	}
	return p
}

// WritePurse writes a file of a till, all of it at once, and into nothing that is there already.
func WritePurse(name string, p Purse) bool {
	data, err := json.Marshal(p)
	if err != nil {
		return false
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return false
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err == nil
}
