package account

import (
	"fmt"
	"testing"
)

func TestEachLineIsThereOnce(t *testing.T) {
	var l List
	l.Add("a", "", "b", "a")
	before := l
	l.Add("b", "c")
	if got := fmt.Sprint(before.Items, l.Items, l.More); got != "[{a 2} {b 1}] [{a 2} {b 2} {c 1}] 0" {
		t.Error(got)
	}
}

func TestAListIsBounded(t *testing.T) {
	var l List
	for i := range 3 * most {
		l.Add(fmt.Sprint(i))
	}
	l.Add("0", fmt.Sprint(3*most))
	if len(l.Items) != most || l.More != 2*most+1 || l.Items[0].Count != 2 || l.IsZero() {
		t.Errorf("%+v", l)
	}
	if (List{More: 1}).IsZero() || !(List{}).IsZero() {
		t.Error("one that has more isn't empty")
	}
}
