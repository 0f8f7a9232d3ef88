package git

import (
	"cmp"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// A git that is ended leaves what it had begun to write among the repository's objects: a tmp_pack of gigabytes. So
// many or large files are written into a folder of their own there, and what is whole moves from it. git gc removes
// one that nobody comes back to, as it removes git's own by the same name.

// Incoming is that folder, by its name among the objects of a repository.
type Incoming struct{ Objects, Name string }

func (in Incoming) dir() string { return filepath.Join(in.Objects, "tmp_objdir-"+in.Name) }

// Stage takes many or large files of g's folder into the index, by way of that folder, compressed as little as is of use.
// It returns how many bytes they have then.
func (in Incoming) Stage(ctx context.Context, g Git, paths []string) (bytes int64, err error) {
	dir, err := in.open()
	if err != nil {
		return 0, err
	}
	level := levelOf(g.Dir, paths)
	g = g.With("GIT_OBJECT_DIRECTORY=" + dir)
	g.Settings = append(slices.Clone(g.Settings), "core.compression="+level, "core.looseCompression="+level, "pack.compression="+level)
	if version, err := g.Text(ctx, nil, "version"); err == nil && PacksObjects(version) {
		g.Settings = append(g.Settings, "core.bigFileThreshold=1")
	}
	err = g.Stage(ctx, paths)
	bytes, moveErr := in.Close()
	return bytes, cmp.Or(err, moveErr)
}

// open makes it. A git that writes there sees all other objects.
func (in Incoming) open() (dir string, err error) {
	dir = in.dir()
	err = os.MkdirAll(filepath.Join(dir, "info"), 0o777)
	if err == nil {
		err = regular.Write(filepath.Join(dir, "info", "alternates"), []byte(filepath.ToSlash(in.Objects)+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("making a folder for new objects: %w", err)
	}
	return dir, nil
}

// Close moves what is whole, and removes the rest. It returns how many bytes were moved. Where there is no such
// folder, it does nothing.
func (in Incoming) Close() (moved int64, err error) {
	dir := in.dir()
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, folder := range folders {
		if folder.Name() == "info" || !folder.IsDir() {
			continue
		}
		size, moveErr := moveObjects(filepath.Join(dir, folder.Name()), filepath.Join(in.Objects, folder.Name()))
		moved, err = moved+size, cmp.Or(err, moveErr)
	}
	if err = cmp.Or(err, os.RemoveAll(dir)); err != nil {
		return moved, fmt.Errorf("moving new objects: %w", err)
	}
	return moved, nil
}

// moveObjects moves whole objects and packs from one folder to another; a pack's index last, by which git finds it.
func moveObjects(from, to string) (moved int64, err error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return 0, err
	}
	isIndex := func(name string) bool { return strings.HasSuffix(name, ".idx") }
	whole := map[string]bool{} // packs
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".idx"); ok {
			whole[name] = true
		}
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		switch {
		case isIndex(a.Name()) == isIndex(b.Name()):
			return 0
		case isIndex(a.Name()):
			return 1
		}
		return -1
	})
	if err := os.MkdirAll(to, 0o777); err != nil { // as git makes them: the user's umask says who may read them
		return 0, err
	}
	for _, entry := range entries {
		name := entry.Name()
		isPack := strings.HasPrefix(name, "pack-")
		info, err := entry.Info()
		if err != nil || strings.HasPrefix(name, "tmp_") || isPack && !whole[strings.TrimSuffix(name, filepath.Ext(name))] {
			continue
		}
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil { // the same is there
			continue
		}
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return moved, err
		}
		moved += info.Size()
	}
	return moved, nil
}

// PacksObjects says whether update-index of a git puts files over a size into one
// pack. Before 2.37 it made a pack for each.
func PacksObjects(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor)
	return err == nil && (major > 2 || major == 2 && minor >= 37)
}

const (
	sampled    = 16       // files of a batch
	sampleSize = 64 << 10 // bytes of each
)

// levelOf is how much git is to compress: not at all what doesn't get smaller, as pictures, archives and models, and else as
// little as possible. zlib's own choice takes three times as long for a tenth.
func levelOf(dir string, paths []string) string {
	var all, small int64
	for i := range min(sampled, len(paths)) {
		data := sample(filepath.Join(dir, filepath.FromSlash(paths[i*len(paths)/min(sampled, len(paths))])))
		var count countingWriter
		if deflate, err := flate.NewWriter(&count, flate.BestSpeed); err == nil {
			_, _ = deflate.Write(data) // counting doesn't fail
			_ = deflate.Close()
		}
		all, small = all+int64(len(data)), small+int64(count)
	}
	if all > 0 && small > all*9/10 {
		return "0"
	}
	return "1"
}

type countingWriter int64

func (w *countingWriter) Write(data []byte) (int, error) {
	*w += countingWriter(len(data))
	return len(data), nil
}

// sample reads some of a file's middle; nothing of one that can't be read.
func sample(path string) []byte {
	file, err := regular.Open(path, os.O_RDONLY|regular.NoFollow, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, min(sampleSize, info.Size()))
	n, err := file.ReadAt(data, (info.Size()-int64(len(data)))/2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return data[:n]
}
