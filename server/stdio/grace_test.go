package stdio

import (
	"testing"
	"time"
)

func TestTheGraceThatAUserSays(t *testing.T) {
	for said, want := range map[string]time.Duration{"": grace, "30s": 30 * time.Second, "0s": 0, "-1s": grace, "soon": grace, "9999h": maxGrace} {
		t.Setenv(envGrace, said)
		if got := Returns(); got != want {
			t.Errorf("%q is %v, want %v", said, got, want)
		}
	}
}
