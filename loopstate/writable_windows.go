package loopstate

// mayWrite knows of nothing: only who makes a file finds out.
func mayWrite(string) error { return nil }
