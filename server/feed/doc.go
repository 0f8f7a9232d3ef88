// Package feed sends an editor what a loop's journal has behind what it was sent.
//
// Notifications are bounded: no editor can slow an agent, a slow one lags. Progress and status are
// shown beside them, the latest alone.
package feed
