// Gives the loops of package kernel to the programs that Node runs for Go:
//
//	export NODE_OPTIONS="--require $PWD/internal/kernel/wasm/node.js"
//	GOOS=js GOARCH=wasm go test -tags simd128 -exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" ./internal/kernel
"use strict";
const { readFileSync } = require("fs"), { join } = require("path");
const kernelLoops = new Function(readFileSync(join(__dirname, "loader.js"), "utf8") + "return kernelLoops;")();
const plain = WebAssembly.instantiate;
WebAssembly.instantiate = async (program, imports) => {
  const loops = kernelLoops(readFileSync(join(__dirname, "loops.wasm")));
  const made = await plain(program, { ...imports, kernel: loops.imports });
  loops.connect(made.instance.exports.mem);
  return made;
};
