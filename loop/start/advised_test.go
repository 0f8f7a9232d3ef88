package start

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestAWorktreeThatHasNoSpaceSaysWhatToDo(t *testing.T) {
	full := fmt.Errorf("taking down a worktree: %w", syscall.ENOSPC)
	if got, want := advised(full).Error(), full.Error()+"; free some space on the disk"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if other := errors.New("no worktree"); advised(other) != other {
		t.Error("another error got an advice")
	}
}
