package answers

// Reply is what the answers of commands have in common, for a client that tells its user the
// answer of any command. Each answer can be read as one; what it doesn't have is left out.
type Reply struct {
	LoopID   string   `json:"loopId"`
	Command  string   `json:"command"` // of a start whose text was a command, and began no loop
	State    string   `json:"state"`
	Text     string   `json:"text"`
	Markdown string   `json:"markdown"`
	Warnings []string `json:"warnings"`
	Loops    []struct {
		Name string `json:"name"`
		Line string `json:"line"`
	} `json:"loops"`
}

// Words are what the user is told.
func (r Reply) Words() string {
	words := r.Text + r.Markdown
	for _, l := range r.Loops {
		words += l.Name + " " + l.Line + "\n"
	}
	return words
}
