package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// with decodes a command's argument into A.
func with[A, R any](run func(context.Context, A) (R, error)) command {
	return command{read: func(argument []byte) (task, error) {
		var a A
		if err := answers.Decode(argument, &a); err != nil {
			return task{}, err
		}
		var target wire.LoopParams
		if about, ok := any(a).(interface{ Target() wire.LoopParams }); ok {
			target = about.Target()
		}
		return task{func(ctx context.Context) (any, error) { return run(ctx, a) }, a, target}, nil
	}}
}
