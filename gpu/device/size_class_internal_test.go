package device

import "testing"

func TestSizeClass(t *testing.T) {
	f := func(wanted, want int64) {
		t.Helper()
		if got := sizeClass(wanted); got != want {
			t.Errorf("%d: %d, want %d", wanted, got, want)
		}
	}
	f(0, 512)
	f(512, 512)
	f(513, 576)
	f(1024, 1024)
	f(1025, 1152)
	f(8000, 8192)
	f(1<<30, 1<<30)
	f(1<<30+1, 1<<30+1<<27)
	last := int64(0)
	for wanted := int64(1); wanted < 1<<40; wanted += 1 + wanted/7 {
		class := sizeClass(wanted)
		if class < wanted || class < last || wanted > 512 && class-wanted > wanted/8 || class%64 != 0 ||
			sizeClass(class) != class {
			t.Fatalf("%d: %d", wanted, class)
		}
		if !serves(class, class) || serves(2*class, class) || serves(class-1, class) {
			t.Fatalf("%d: what serves", class)
		}
		last = class
	}
}
