package loop

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// A forecast looks at the last loops of a folder, and says nothing of few iterations.
const (
	forecastLoops = 20
	minForecast   = 3
)

// Forecast is what iterations have cost in a folder, and what so many would (0: nobody knows how
// many): "about $1.10 an iteration so far, 50 iterations: $55.00". "" where too little is known.
func Forecast(folder string, iterations int) string {
	return forecast(PastOf(folder, forecastLoops), iterations)
}

func forecast(past []Past, iterations int) string {
	usd, n := 0.0, 0
	for _, p := range past {
		if end, _ := RecordOf(p.Entry); end.Cost.Known && end.Unknown == 0 {
			usd, n = usd+end.Cost.USD, n+end.Iterations
		}
	}
	if n < minForecast || usd == 0 {
		return ""
	}
	text := "about " + format.USD(usd/float64(n)) + " an iteration so far"
	if iterations > 0 {
		text += fmt.Sprintf(", %s: %s", format.Counted(iterations, "iteration"), format.USD(usd/float64(n)*float64(iterations)))
	}
	return text
}
