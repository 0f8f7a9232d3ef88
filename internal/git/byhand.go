package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Two things are written without git, as a loop does them after each iteration and a git takes longer to start than to
// do them: a tree of trees, and a ref that nobody else writes.

// PutTree writes a tree that has trees alone, as git mktree -z --missing does: "040000 tree OID\tNAME" each, with a NUL
// behind. objects is where the repository has its objects. It returns the tree's name, and how many bytes it has there.
func PutTree(objects, text string) (oid string, size int64, err error) {
	body, isLong, err := treeOf(text)
	if err != nil {
		return "", 0, err
	}
	var sum hash.Hash = sha1.New() //nolint:gosec // the same
	if isLong {
		sum = sha256.New()
	}
	var packed bytes.Buffer
	deflate, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err != nil {
		return "", 0, err
	}
	for _, part := range [][]byte{fmt.Appendf(nil, "tree %d\x00", len(body)), body} {
		sum.Write(part)
		if _, err := deflate.Write(part); err != nil {
			return "", 0, err
		}
	}
	if err := deflate.Close(); err != nil {
		return "", 0, err
	}
	oid = hex.EncodeToString(sum.Sum(nil))
	if err := putObject(objects, oid, packed.Bytes()); err != nil {
		return "", 0, fmt.Errorf("writing a tree: %w", err)
	}
	return oid, int64(packed.Len()), nil
}

// treeOf is what git keeps of a tree, and whether its repository has long names.
func treeOf(text string) (body []byte, isLong bool, err error) {
	lines := Fields([]byte(text))
	nameOf := func(line string) string {
		_, name, _ := strings.Cut(line, "\t")
		return name
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(nameOf(a)+"/", nameOf(b)+"/") })
	for _, line := range lines {
		of, name, ok := strings.Cut(line, "\t")
		oid, isTree := strings.CutPrefix(of, "040000 tree ")
		raw, hexErr := hex.DecodeString(oid)
		if !ok || !isTree || hexErr != nil || len(raw) != sha1.Size && len(raw) != sha256.Size {
			return nil, false, fmt.Errorf("%q is no line of a tree", line)
		}
		isLong = len(raw) == sha256.Size
		body = append(append(body, "40000 "+name+"\x00"...), raw...)
	}
	return body, isLong, nil
}

// putObject writes an object's file. Its permissions are those of the folder of all objects, which git has made by
// core.sharedRepository.
func putObject(objects, oid string, data []byte) error {
	root, err := regular.OpenRoot(objects)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	dir, file := oid[:2], path.Join(oid[:2], oid[2:])
	now := time.Now()
	if root.Chtimes(file, now, now) == nil { // it is there, and git removes none that is so young
		return nil
	}
	switch err := root.Mkdir(dir, 0o777); {
	case err == nil:
		if err := root.Chmod(dir, info.Mode().Perm()|info.Mode()&fs.ModeSetgid); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	temporary := path.Join(dir, "tmp_obj_"+rand.Text()) // git gc removes it where this ends here
	err = writeIn(root, temporary, data, info.Mode().Perm()&0o444)
	if err == nil {
		err = root.Rename(temporary, file)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return err
}

func writeIn(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// ErrNotByHand says that git has to write a ref: it stands elsewhere, is locked, or says something else.
var ErrNotByHand = errors.New("git has to write the ref")

// PutRef has a ref say now what it said before; "" is one that isn't there. common is the repository. Nobody else writes
// the ref but git's own cleaning up, whose lock it heeds.
//
// Errors: ErrNotByHand, and what the system says.
func PutRef(common, ref, now, before string) error {
	root, err := regular.OpenRoot(common)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat("reftable"); err == nil {
		return ErrNotByHand
	}
	if before == "" {
		if err := root.MkdirAll(path.Dir(ref), 0o777); err != nil {
			return err
		}
	}
	lock := ref + ".lock"
	if err := writeIn(root, lock, []byte(now+"\n"), 0o666); err != nil {
		return errors.Join(ErrNotByHand, err)
	}
	said, err := regular.ReadIn(root, ref, regular.Short)
	if isAbsent := errors.Is(err, fs.ErrNotExist); before == "" && isAbsent || err == nil && string(said) == before+"\n" {
		err = root.Rename(lock, ref)
	} else {
		err = errors.Join(ErrNotByHand, err)
	}
	if err != nil {
		_ = root.Remove(lock)
	}
	return err
}
