package memory

import (
	"math"
	"runtime"
	"testing"
	"testing/fstest"
)

func TestGroupLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none": {map[string]string{}, unlimited},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/user/job\n", "sys/fs/cgroup/user/job/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "5000\n", "sys/fs/cgroup/memory.max": "9000\n",
		}, 5000},
		"version 2 in a container": {map[string]string{"proc/self/cgroup": "0::/docker/1234\n", "sys/fs/cgroup/memory.max": "7000\n"}, 7000},
		"version 2 with a root":    {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, unlimited},
		"version 1": {map[string]string{
			"proc/self/cgroup": "9:cpu:/x\n5:hugetlb,memory:/job\n0::/\n", "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "8000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 8000},
		"both": {map[string]string{
			"proc/self/cgroup": "5:memory:/job\n0::/job\n", "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "8000\n", "sys/fs/cgroup/job/memory.max": "6000",
		}, 6000},
		"another controller": {map[string]string{"proc/self/cgroup": "5:memoryless:/job\n", "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "8000\n"}, unlimited},
		"junk":               {map[string]string{"proc/self/cgroup": "\n:\n0:\n0::../../x\n", "sys/fs/cgroup/memory.max": "-1\n", "sys/fs/cgroup/x/memory.max": "lots"}, unlimited},
	} {
		files := fstest.MapFS{}
		for path, text := range c.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := groupLimit(files); got.Bytes != c.want || got.By == "" {
			t.Errorf("%s: %d, want %d", name, got.Bytes, c.want)
		}
	}
}

func TestRest(t *testing.T) {
	for _, c := range []struct {
		limit      uint64
		used, want int64
	}{{100, 30, 70}, {100, 130, 0}, {math.MaxUint64, 30, unlimited}, {1 << 63, 0, unlimited}} {
		if got := rest(c.limit, c.used, "").Bytes; got != c.want {
			t.Errorf("%d of %d leave %d, want %d", c.used, c.limit, got, c.want)
		}
	}
}

func TestAtHand(t *testing.T) {
	l := AtHand()
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "windows":
		if l.Bytes < 1<<20 || l.Bytes == unlimited || l.By == "" {
			t.Errorf("there are %d bytes (%s)", l.Bytes, l.By)
		}
	}
}
