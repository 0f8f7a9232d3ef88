package ask

import "slices"

// Rules are what the user has allowed for as long as the loop lasts.
func (d *Pending) Rules() []string {
	return slices.Clone(d.allowed)
}

// Allow is what the user has allowed in this loop before.
func (d *Pending) Allow(rules []string) {
	d.allowed = slices.Clone(rules)
}

// Disallow takes back a rule; ok is false where there is none such.
func (d *Pending) Disallow(rule string) (ok bool) {
	ok = slices.Contains(d.allowed, rule)
	d.allowed = slices.DeleteFunc(d.allowed, func(other string) bool { return other == rule })
	return ok
}
