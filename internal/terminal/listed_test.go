package terminal

import "testing"

func TestABareCRIsSeenInAPatch(t *testing.T) {
	if got := bareCR.Replace("-a\rb\r\n+a\rB\r"); got != "-a^Mb\r\n+a^MB^M" {
		t.Errorf("%q", got)
	}
}
