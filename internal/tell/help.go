package tell

// HelpWidth is how wide the help of a command is at most, in cells: what a terminal wraps
// can't be read.
const HelpWidth = 90
