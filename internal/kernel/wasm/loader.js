// The loops of package kernel for browsers: a module with vectors that works on the memory of the
// program. The program gets what it imports before it has a memory, so connect comes later.
function kernelLoops(bytes) {
  const able = WebAssembly.validate(bytes);
  let loops = null;
  return {
    imports: {
      able: () => Number(able),
      tile: (sum, dims, a, b, c, add) => loops.tile(sum, dims, a, b, c, add),
      above: (c, rows, columns, byRow, byColumn) => loops.above(c, rows, columns, byRow, byColumn),
      against: (sum, dims, q, data, index, n, dst) => loops.against(sum, dims, q, data, index, n, dst),
      pack: (dst, width, data, dims, index, n) => loops.pack(dst, width, data, dims, index, n),
    },
    connect(mem) {
      if (able) loops = new WebAssembly.Instance(new WebAssembly.Module(bytes), { go: { mem } }).exports;
    },
  };
}
