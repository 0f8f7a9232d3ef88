package stdio

import (
	"context"
	"os"
)

// awaitHangUp returns false: a broken pipe is noticed when it is written to,
// and the end of standard input comes with it.
func awaitHangUp(context.Context, *os.File) bool { return false }
