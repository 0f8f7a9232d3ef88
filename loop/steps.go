package loop

import (
	"errors"
	"fmt"
)

// MaxWorkers is how many agents a step may have.
const MaxWorkers = 8

// checkSteps says what is wrong with the steps of an iteration.
func (c Config) checkSteps() error {
	if len(c.Steps) > 0 && c.HandsOver() {
		return errors.New("hats that hand over and steps exclude each other: take out the hats' triggers, or the steps")
	}
	for i, step := range c.Steps {
		if len(step) == 0 || len(step) > MaxWorkers {
			return fmt.Errorf("step %d has %d agents: a step has 1 to %d", i+1, len(step), MaxWorkers)
		}
	}
	return nil
}
