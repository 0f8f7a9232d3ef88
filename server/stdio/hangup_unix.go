//go:build unix

package stdio

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitHangUp returns true once the reader of f's pipe or socket has closed it,
// which a server that has nothing to write wouldn't notice; false when ctx
// ended, or when this kind of file can't be waited for.
func awaitHangUp(ctx context.Context, f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}} // errors and hang-ups are always reported
	for ctx.Err() == nil {
		n, err := unix.Poll(fds, int(time.Second/time.Millisecond))
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return false
		case n > 0:
			return fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
	return false
}
