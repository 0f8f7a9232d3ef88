package ask

import "slices"

// The rules of a loop stand in its state file, too, where anybody may write. The user may take out
// any there; what is new there may be from an agent, and counts for nothing.

// Rules are what the user has allowed for as long as the loop lasts.
func (d *Desk) Rules() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rules()
}

func (d *Desk) rules() []string { return with(d.granted, d.fresh) }

func with(rules, more []string) []string {
	rules = slices.Clone(rules)
	for _, rule := range more {
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// Granted are those rules of a state file that the user's answers have put there.
func (d *Desk) Granted(file []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grantedOf(file)
}

func (d *Desk) grantedOf(file []string) []string {
	return slices.DeleteFunc(slices.Clone(file), func(rule string) bool { return !slices.Contains(d.granted, rule) })
}

// Enter is what a state file is to say instead of its rules, and which of that is new there.
func (d *Desk) Enter(file []string) (rules, fresh []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return with(d.grantedOf(file), d.fresh), slices.Clone(d.fresh)
}

// Wrote takes note that a state file has these rules, among them some that were fresh.
func (d *Desk) Wrote(file, fresh []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.granted = file
	d.fresh = slices.DeleteFunc(d.fresh, func(rule string) bool { return slices.Contains(fresh, rule) })
}
