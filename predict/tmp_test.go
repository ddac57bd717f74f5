package predict_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/mvclust/mvclust/internal/dataset"
	"github.com/mvclust/mvclust/model"
	"github.com/mvclust/mvclust/predict"
)

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6 + float64(r.Stime.Sec) + float64(r.Stime.Usec)/1e6
}

func BenchmarkTmp(b *testing.B) {
	f, _ := os.Open("/tmp/prd/out/model.mvclust")
	st, _ := f.Stat()
	c := cpu()
	m, err := model.Read(f, st.Size())
	if err != nil {
		b.Fatal(err)
	}
	fmt.Println("read", cpu()-c)
	c = cpu()
	p, err := predict.New(b.Context(), m, 0)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Println("new", cpu()-c)
	set, _ := dataset.Load(b.Context(), []string{"/tmp/prd/fresh.npz"}, dataset.Options{})
	fmt.Printf("%+v\n", p.Search())
	c = cpu()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p.Predict(b.Context(), set.Views, nil, 0, nil)
		n++
	}
	fmt.Println("predict", (cpu()-c)/float64(n))
}
