// Package sidecar tests the built program as the process that an editor
// starts: how it ends, and how it keeps up. Its agents are scripted.
package sidecar
