package wire

// HostFleet is the host of a loop that no worker has had yet.
const HostFleet = "fleet"

// FetchResult is where what a loop of another machine has done is now.
type FetchResult struct {
	Text   string `json:"text"`
	Branch string `json:"branch"` // in the repository of the loop's origin
	Class  Class  `json:"class"`
}

// Fetched says that a branch has what a loop did.
func Fetched(branch string) FetchResult {
	return FetchResult{"what it did is in the branch " + OneLine(branch), branch, ClassOK}
}

// Failure is why a command couldn't be done, with the reason that clients are given.
type Failure struct {
	Reason string
	Key    string // of the argument that is wrong, in place of a reason
	Err    error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }
