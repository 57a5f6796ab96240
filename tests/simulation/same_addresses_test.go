package simulation_test

import (
	"runtime"
	"sync"
	"unsafe"
)

// makeThreads has the runtime make threads, which it keeps. One that it made later, at a moment that depends on the
// load of the machine, would move what is allocated after it, and with it the order of maps whose keys are pointers.
func makeThreads(n int) {
	var all sync.WaitGroup
	all.Add(n)
	end := make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			<-end
		}()
	}
	all.Wait()
	close(end)
}

var ballast []any // what freshHeap allocated

// freshHeap fills all gaps of the heap, which the start of the program has left in places that differ. All later
// objects lie in an arena that is empty now.
func freshHeap() (all []any) {
	const arena = 64 << 20
	keep := func(bytes []byte, pointers []*byte) (number uintptr) {
		all = append(all, bytes, pointers)
		return uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) / arena
	}
	all = make([]any, 0, 1<<16)
	page := make([]byte, 8192)
	first := keep(page, nil)
	for keep(make([]byte, 8192), nil) == first {
	}
	for size := 8; size <= 32<<10; size += 8 + size/1024*128 {
		for keep(make([]byte, size), nil) == first {
		}
		for {
			pointers := make([]*byte, size/8) // from 64 of them on with a header of 8 bytes
			all = append(all, pointers)
			if uintptr(unsafe.Pointer(unsafe.SliceData(pointers)))/arena != first {
				break
			}
		}
	}
	for depth := 1; depth <= 32; depth *= 2 { // a stack of each size
		at := make(chan uintptr)
		for next := first; next == first; next = <-at {
			go func() { at <- useStack(depth) / arena; select {} }()
		}
	}
	return all
}

// useStack returns an address of a stack with so many KiB in use.
//
//go:noinline
func useStack(depth int) uintptr {
	var used [1 << 10]byte
	used[depth] = 1
	if depth == 1 {
		return uintptr(unsafe.Pointer(&used))
	}
	return useStack(depth-1) + uintptr(used[0])
}
