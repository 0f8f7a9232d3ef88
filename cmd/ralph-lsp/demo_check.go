package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

// demoNumbers is how far the demo's program has to count.
const demoNumbers = 15

// newDemoCheck is the check that the demo's program has to pass.
func newDemoCheck() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-check FILE",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("reading the program: %w", err)
			}
			return checkFizzBuzz(cmd.OutOrStdout(), string(source))
		},
	}
}

// checkFizzBuzz prints which numbers the program gets wrong.
func checkFizzBuzz(out io.Writer, source string) error {
	divides := func(d, n int) bool { return n%d == 0 }
	program, err := template.New("fizzbuzz").Funcs(template.FuncMap{"divides": divides}).Parse(source)
	if err != nil {
		return fmt.Errorf("parsing the program: %w", err)
	}
	wrong := 0
	for n := 1; n <= demoNumbers; n++ {
		var got strings.Builder
		if err := program.Execute(&got, n); err != nil {
			return fmt.Errorf("running the program: %w", err)
		}
		if want := fizzBuzz(n); strings.TrimSpace(got.String()) != want {
			fmt.Fprintf(out, "%d: want %s, got %s\n", n, want, strings.TrimSpace(got.String()))
			wrong++
		}
	}
	if wrong > 0 {
		fmt.Fprintf(out, "%d of %d numbers are wrong\n", wrong, demoNumbers)
		return &exitError{code: exitFailed}
	}
	fmt.Fprintf(out, "all %d numbers are right\n", demoNumbers)
	return nil
}

func fizzBuzz(n int) string {
	switch {
	case n%15 == 0:
		return "FizzBuzz"
	case n%3 == 0:
		return "Fizz"
	case n%5 == 0:
		return "Buzz"
	}
	return fmt.Sprint(n)
}
