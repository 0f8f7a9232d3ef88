package loopstate

import (
	"errors"
	"io/fs"
	"strings"
)

// takeOver brings into the file what somebody made of base without knowing what
// has happened to the file since. A file that is gone stays so. What can't be
// understood is taken as it is, for its writer to see; nothing at all is not.
func (f *File) takeOver(base, theirs []byte) error {
	if blank(string(theirs)) {
		return nil // of an editor that ended in the middle of a save
	}
	_, err := f.rewrite(toUpdate, func(now *Document) ([]byte, State, error) {
		merged, err := merge(base, theirs, now.state)
		if err != nil {
			return theirs, now.State(), nil
		}
		data, err := render(merged)
		return data, merged.State(), err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// merge returns what someone made of base, with what became of base elsewhere:
// what both changed is theirs. A text that they put behind the prompt stays
// behind it.
func merge(base, theirs []byte, now State) (*Document, error) {
	before, err := Parse(base)
	if err != nil {
		return nil, err
	}
	d, err := Parse(theirs)
	if err != nil {
		return nil, err
	}
	prompt := d.state.Prompt
	if added, ok := strings.CutPrefix(prompt, before.state.Prompt); ok {
		prompt = now.Prompt + added
	}
	for i := range fields {
		value := fields[i].format(&now)
		if mine := fields[i].format(&d.state); mine == fields[i].format(&before.state) && mine != value {
			d.put(i, value)
		}
	}
	if d, err = Parse(d.Bytes()); err != nil {
		return nil, err
	}
	s := d.State()
	s.Prompt = prompt
	d.Set(s)
	return d, nil
}
