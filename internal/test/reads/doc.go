// Package reads has a table of all files in an agent's folder that the program reads outside of the walls, and of what
// may be in the place of each.
package reads
