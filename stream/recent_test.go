package stream

import (
	"fmt"
	"testing"
)

func TestRecentForgetsTheOldest(t *testing.T) {
	var r Recent[int]
	id := func(i int) string { return fmt.Sprint("t", i) }
	for i := range MaxRecent {
		r.Put(id(i), i)
	}
	r.Put(id(5), 55)
	if v, ok := r.Get(id(5)); r.Len() != MaxRecent || v != 55 || !ok {
		t.Fatalf("%d ids, %v %v", r.Len(), v, ok)
	}
	r.Put("one more", -1)
	if _, ok := r.Get(id(0)); ok || r.Len() != MaxRecent {
		t.Errorf("the oldest is remembered: %v of %d", ok, r.Len())
	}
	if v, ok := r.Get(id(1)); v != 1 || !ok {
		t.Errorf("the second: %v %v", v, ok)
	}
}

// An id that was dropped may come again; its old place must not cost it.
func TestRecentKeepsWhatCameAgain(t *testing.T) {
	var r Recent[int]
	r.Put("again", 1)
	r.Drop("again")
	if _, ok := r.Get("again"); ok || r.Len() != 0 {
		t.Error("a dropped id is remembered")
	}
	r.Put("other", 2)
	r.Put("again", 3)
	for i := range MaxRecent - 1 {
		r.Put(fmt.Sprint("t", i), i)
	}
	_, other := r.Get("other")
	if v, ok := r.Get("again"); v != 3 || !ok || other {
		t.Errorf("again: %v %v, other: %v", v, ok, other)
	}
}

func TestRecentIsBounded(t *testing.T) {
	var r Recent[int]
	for i := range 10 * MaxRecent {
		id := fmt.Sprint("t", i%3000)
		r.Put(id, i)
		if i%3 == 0 {
			r.Drop(id)
		}
		if r.Len() > MaxRecent || len(r.ring) > MaxRecent {
			t.Fatalf("%d ids in %d places after %d", r.Len(), len(r.ring), i)
		}
	}
}
