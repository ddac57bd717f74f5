package kernel

import "math"

// The portable kernels, written out per sum, because a call per element would
// cost far more than the arithmetic. The conversions keep compilers for other
// processors from fusing the multiply and the add, which would change the sums.

func absolute(x, y float32) float32 {
	return math.Float32frombits(math.Float32bits(x-y) &^ (1 << 31))
}

func cube(x, y float32) float32 {
	d := absolute(x, y)
	return float32(float32(d*d) * d)
}

func square(x, y float32) float32 {
	d := x - y
	return float32(d * d)
}

// The size of the portable tile. It is made of blocks of 2 x 4 sums, which fit in
// the registers of every processor.
const (
	portableRows    = 4
	portableColumns = 16
)

func tilePortable(s Sum, dims int, a, b, c []float32, add bool) {
	c = c[:portableRows*portableColumns]
	if !add {
		clear(c)
	}
	a, b = a[:dims*portableRows], b[:dims*portableColumns]
	for i := 0; i < portableRows; i += 2 {
		for j := 0; j < portableColumns; j += 4 {
			first, second := c[i*portableColumns+j:], c[(i+1)*portableColumns+j:]
			switch s {
			case Dot:
				dotBlock(a[i:], b[j:], first, second)
			case Absolute:
				absoluteBlock(a[i:], b[j:], first, second)
			case Cube:
				cubeBlock(a[i:], b[j:], first, second)
			case Square:
				squareBlock(a[i:], b[j:], first, second)
			}
		}
	}
}

func dotBlock(a, b, c, d []float32) {
	c, d = c[:4], d[:4]
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for {
		x, y := (*[2]float32)(a), (*[4]float32)(b)
		c0 += float32(x[0] * y[0])
		c1 += float32(x[0] * y[1])
		c2 += float32(x[0] * y[2])
		c3 += float32(x[0] * y[3])
		d0 += float32(x[1] * y[0])
		d1 += float32(x[1] * y[1])
		d2 += float32(x[1] * y[2])
		d3 += float32(x[1] * y[3])
		if len(a) <= portableRows {
			break
		}
		a, b = a[portableRows:], b[portableColumns:]
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func absoluteBlock(a, b, c, d []float32) {
	c, d = c[:4], d[:4]
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for {
		x, y := (*[2]float32)(a), (*[4]float32)(b)
		c0 -= absolute(x[0], y[0])
		c1 -= absolute(x[0], y[1])
		c2 -= absolute(x[0], y[2])
		c3 -= absolute(x[0], y[3])
		d0 -= absolute(x[1], y[0])
		d1 -= absolute(x[1], y[1])
		d2 -= absolute(x[1], y[2])
		d3 -= absolute(x[1], y[3])
		if len(a) <= portableRows {
			break
		}
		a, b = a[portableRows:], b[portableColumns:]
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func cubeBlock(a, b, c, d []float32) {
	c, d = c[:4], d[:4]
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for {
		x, y := (*[2]float32)(a), (*[4]float32)(b)
		c0 -= cube(x[0], y[0])
		c1 -= cube(x[0], y[1])
		c2 -= cube(x[0], y[2])
		c3 -= cube(x[0], y[3])
		d0 -= cube(x[1], y[0])
		d1 -= cube(x[1], y[1])
		d2 -= cube(x[1], y[2])
		d3 -= cube(x[1], y[3])
		if len(a) <= portableRows {
			break
		}
		a, b = a[portableRows:], b[portableColumns:]
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func squareBlock(a, b, c, d []float32) {
	c, d = c[:4], d[:4]
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for {
		x, y := (*[2]float32)(a), (*[4]float32)(b)
		c0 -= square(x[0], y[0])
		c1 -= square(x[0], y[1])
		c2 -= square(x[0], y[2])
		c3 -= square(x[0], y[3])
		d0 -= square(x[1], y[0])
		d1 -= square(x[1], y[1])
		d2 -= square(x[1], y[2])
		d3 -= square(x[1], y[3])
		if len(a) <= portableRows {
			break
		}
		a, b = a[portableRows:], b[portableColumns:]
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func abovePortable(c, rows, columns []float32, byRow, byColumn []uint32) bool {
	reached := uint32(0)
	columns = columns[:portableColumns]
	for i := range portableRows {
		var r, l uint32
		bar := rows[i]
		for j, v := range c[i*portableColumns : (i+1)*portableColumns] {
			if v >= bar {
				r |= 1 << j
			}
			if v >= columns[j] {
				l |= 1 << j
			}
		}
		byRow[i], byColumn[i] = r, l
		reached |= r | l
	}
	return reached != 0
}

func againstPortable(s Sum, q, data []float32, index []int32, dst []float32) {
	dims := len(q)
	dst = dst[:len(index)]
	for t, i := range index {
		row := data[int(i)*dims : (int(i)+1)*dims]
		switch s {
		case Dot:
			dst[t] = dots(q, row)
		case Absolute:
			dst[t] = absolutes(q, row)
		case Cube:
			dst[t] = cubes(q, row)
		case Square:
			dst[t] = squares(q, row)
		}
	}
}

func dots(q, x []float32) float32 {
	var s0, s1, s2, s3 float32
	x = x[:len(q)]
	for len(q) >= 4 {
		a, b := (*[4]float32)(q), (*[4]float32)(x)
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
		q, x = q[4:], x[4:]
	}
	for k, v := range q {
		s0 += float32(v * x[k])
	}
	return (s0 + s1) + (s2 + s3)
}

func absolutes(q, x []float32) float32 {
	var s0, s1, s2, s3 float32
	x = x[:len(q)]
	for len(q) >= 4 {
		a, b := (*[4]float32)(q), (*[4]float32)(x)
		s0 -= absolute(a[0], b[0])
		s1 -= absolute(a[1], b[1])
		s2 -= absolute(a[2], b[2])
		s3 -= absolute(a[3], b[3])
		q, x = q[4:], x[4:]
	}
	for k, v := range q {
		s0 -= absolute(v, x[k])
	}
	return (s0 + s1) + (s2 + s3)
}

func cubes(q, x []float32) float32 {
	var s0, s1, s2, s3 float32
	x = x[:len(q)]
	for len(q) >= 4 {
		a, b := (*[4]float32)(q), (*[4]float32)(x)
		s0 -= cube(a[0], b[0])
		s1 -= cube(a[1], b[1])
		s2 -= cube(a[2], b[2])
		s3 -= cube(a[3], b[3])
		q, x = q[4:], x[4:]
	}
	for k, v := range q {
		s0 -= cube(v, x[k])
	}
	return (s0 + s1) + (s2 + s3)
}

func squares(q, x []float32) float32 {
	var s0, s1, s2, s3 float32
	x = x[:len(q)]
	for len(q) >= 4 {
		a, b := (*[4]float32)(q), (*[4]float32)(x)
		s0 -= square(a[0], b[0])
		s1 -= square(a[1], b[1])
		s2 -= square(a[2], b[2])
		s3 -= square(a[3], b[3])
		q, x = q[4:], x[4:]
	}
	for k, v := range q {
		s0 -= square(v, x[k])
	}
	return (s0 + s1) + (s2 + s3)
}

func standardisePortable(to, row, high, low, inverse []float32) {
	to, high, low, inverse = to[:len(row)], high[:len(row)], low[:len(row)], inverse[:len(row)]
	for k, x := range row {
		x -= high[k]
		x -= low[k]
		to[k] = x * inverse[k]
	}
}

func affinePortable(to, x, slope, at []float32) (squares, along float32) {
	to, slope, at = to[:len(x)], slope[:len(x)], at[:len(x)]
	var s, a [4]float32 // side by side, since each addition waits for the one before
	for k, v := range x {
		u := float32(slope[k]*v) + at[k]
		s[k&3] += float32(u * u)
		a[k&3] += float32(at[k] * u)
		to[k] = slope[k] * u
	}
	return (s[0] + s[1]) + (s[2] + s[3]), (a[0] + a[1]) + (a[2] + a[3])
}

// packPortable writes one panel.
func packPortable(dst, data []float32, dims int, index []int32, width int) {
	clear(dst)
	for t, i := range index {
		at := t
		for _, v := range data[int(i)*dims : (int(i)+1)*dims] {
			dst[at] = v
			at += width
		}
	}
}
