package similarity

// A kernel sums over the dimensions of one row against four others, each in its
// own accumulator and in the same order, so that a sum does not depend on which
// rows it is computed beside. Written out per metric because a call per element
// would cost far more than the arithmetic. The conversions keep compilers for other
// processors from fusing the multiply and the add, which would change the sum.
type kernel struct {
	four func(q, a, b, c, d []float32) (float32, float32, float32, float32)
}

var sums = [...]kernel{Cosine: {dots}, L1: {absolutes}, L2: {squares}, L3: {cubes}}

func dots(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for k, v := range q {
		w += float32(v * a[k])
		x += float32(v * b[k])
		y += float32(v * c[k])
		z += float32(v * d[k])
	}
	return
}

func absolutes(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for k, v := range q {
		w += max(v-a[k], a[k]-v)
		x += max(v-b[k], b[k]-v)
		y += max(v-c[k], c[k]-v)
		z += max(v-d[k], d[k]-v)
	}
	return
}

func squares(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for k, v := range q {
		e, f, g, h := v-a[k], v-b[k], v-c[k], v-d[k]
		w += float32(e * e)
		x += float32(f * f)
		y += float32(g * g)
		z += float32(h * h)
	}
	return
}

func cubes(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for k, v := range q {
		e, f, g, h := max(v-a[k], a[k]-v), max(v-b[k], b[k]-v), max(v-c[k], c[k]-v), max(v-d[k], d[k]-v)
		w += float32(float32(e*e) * e)
		x += float32(float32(f*f) * f)
		y += float32(float32(g*g) * g)
		z += float32(float32(h*h) * h)
	}
	return
}
