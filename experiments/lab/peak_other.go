//go:build !unix

package lab

import (
	"os"
	"time"
)

// peak returns 0: this system does not tell.
func peak(*os.ProcessState) int64 { return 0 }

var started = time.Now()

// processor returns the seconds that went by: this system does not tell those of the processors.
func processor() float64 { return time.Since(started).Seconds() }
