package wire

// For the tests that need the answers of commands, whose package imports this one.
var (
	Constants       = constants
	Document        = document
	Keys            = keys
	NamesOf         = namesOf
	Noon            = noon
	ProjectEnd      = projectEnd
	QuestionToShow  = exampleQuestion
	QuestionsToShow = exampleQuestions
	StatesToShow    = exampleStates
	Unexplained     = unexplained
)
