//go:build !race

package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestCheckOfManyMistakes has files that cost much to parse again and again, so
// that a check which does that wouldn't end.
func TestCheckOfManyMistakes(t *testing.T) {
	for name, line := range map[string]string{
		"errors":   "x =\n",
		"keys":     "colour%d = 1\n",
		"headers":  "[backends.b%d]\n",
		"brackets": "[[[[[\n",
		"quotes":   "\"\"\"\n",
		"lists":    "x = [\n",
		"tables":   "x = {\n",
	} {
		var b strings.Builder
		for i := 0; b.Len() < MaxSize-100; i++ {
			b.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
		}
		problems := Check([]byte(b.String()), builtin)
		if len(problems) == 0 {
			t.Errorf("%s: no problems", name)
		}
	}
}
