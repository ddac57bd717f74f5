package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// limits returns the memory of the machine.
func limits() []Limit {
	var status struct { // MEMORYSTATUSEX
		length, load uint32
		total        uint64
		_            [6]uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return nil
	}
	return []Limit{rest(status.total, 0, "all of this machine's memory")}
}
