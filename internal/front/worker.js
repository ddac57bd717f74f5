"use strict";
// The worker of the page that clusters. It gives the program a file system in memory, in which the
// chosen files are read piece by piece from where they are, and runs command lines one after
// another. What the program needs of the rest of the browser is in wasm_exec.js, which follows, as
// does kernelLoops, with loops, the module that it takes.
(() => {
  const folderMode = 0o40755, fileMode = 0o100644, readAhead = 1 << 22;
  const nodes = new Map(), opened = new Map();
  let next = 3, numbers = 1;

  const fault = code => Object.assign(new Error(code), { code });
  const made = node => ({ ino: numbers++, time: Date.now(), ...node });
  const resolve = (...parts) => {
    const out = [];
    for (const part of parts.join("/").split("/")) {
      if (part === "..") out.pop();
      else if (part && part !== ".") out.push(part);
    }
    return "/" + out.join("/");
  };
  const above = path => resolve(path, "..");
  const at = path => {
    const node = nodes.get(resolve(path));
    if (!node) throw fault("ENOENT");
    return node;
  };
  const of = fd => {
    const entry = opened.get(fd);
    if (!entry) throw fault("EBADF");
    return entry;
  };
  const below = path => {
    const start = path === "/" ? path : path + "/";
    return [...nodes.keys()].filter(p => p !== path && p.startsWith(start) && !p.slice(start.length).includes("/"));
  };
  const add = (path, node) => {
    path = resolve(path);
    if (nodes.has(path)) throw fault("EEXIST");
    if (!at(above(path)).folder) throw fault("ENOTDIR");
    nodes.set(path, node);
  };
  nodes.set("/", made({ folder: true }));

  const sizeOf = node => node.file ? node.file.size : node.folder ? 0 : node.size;
  const stat = node => ({
    dev: 1, ino: node.ino, mode: node.folder ? folderMode : fileMode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: sizeOf(node),
    blksize: 4096, blocks: Math.ceil(sizeOf(node) / 512), atimeMs: node.time, mtimeMs: node.time, ctimeMs: node.time,
    isDirectory: () => Boolean(node.folder),
  });

  // The bytes of a chosen file from a place on; small reads share a larger one.
  function piece(node, from, length) {
    const k = node.ahead;
    if (k && from >= k.from && from + length <= k.from + k.bytes.length) return k.bytes.subarray(from - k.from, from - k.from + length);
    const end = Math.min(node.file.size, from + Math.max(length, readAhead));
    try {
      const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(node.file.slice(from, end)));
      node.ahead = { from, bytes };
      return bytes.subarray(0, length);
    } catch {
      throw fault("EIO"); // it was moved or changed since it was chosen
    }
  }

  function grow(node, size) {
    if (size > node.bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * node.bytes.length, 4096));
      larger.set(node.bytes.subarray(0, node.size));
      node.bytes = larger;
    }
    node.size = Math.max(node.size, size);
  }

  // What the program prints, line by line.
  const printed = { 1: new TextDecoder(), 2: new TextDecoder() }, rest = { 1: "", 2: "" };
  let said = [];
  function print(fd, bytes) {
    const lines = (rest[fd] + printed[fd].decode(bytes, { stream: true })).split("\n");
    rest[fd] = lines.pop();
    if (fd !== 2) return;
    for (const line of lines) {
      if (line.startsWith("{")) postMessage({ progress: JSON.parse(line) });
      else if (said.push(line) > 50) said.splice(1, 1); // the first says why, the last where
    }
  }

  const calls = {
    open(path, flags, mode) {
      const c = constants;
      path = resolve(path);
      if (flags & c.O_CREAT && !nodes.has(path)) add(path, made({ bytes: new Uint8Array(0), size: 0 }));
      else if (flags & c.O_CREAT && flags & c.O_EXCL) throw fault("EEXIST");
      const node = at(path);
      if (node.folder && flags & (c.O_WRONLY | c.O_RDWR)) throw fault("EISDIR");
      if (!node.folder && flags & c.O_DIRECTORY) throw fault("ENOTDIR");
      if (flags & c.O_TRUNC && node.bytes) node.size = 0;
      opened.set(next, { node, place: 0, append: Boolean(flags & c.O_APPEND) });
      return next++;
    },
    close(fd) { of(fd); opened.delete(fd); },
    read(fd, buffer, offset, length, position) {
      const entry = of(fd), from = position ?? entry.place;
      if (entry.node.folder) throw fault("EISDIR");
      const n = Math.max(0, Math.min(length, sizeOf(entry.node) - from));
      if (n) buffer.set(entry.node.file ? piece(entry.node, from, n) : entry.node.bytes.subarray(from, from + n), offset);
      if (position === null) entry.place += n;
      return n;
    },
    write(fd, buffer, offset, length, position) {
      const bytes = buffer.subarray(offset, offset + length);
      if (fd === 1 || fd === 2) { print(fd, bytes); return length; }
      const entry = of(fd), node = entry.node;
      if (!node.bytes) throw fault("EBADF"); // the chosen files stay as they are
      const to = entry.append ? node.size : position ?? entry.place;
      grow(node, to + length);
      node.bytes.set(bytes, to);
      if (position === null) entry.place = to + length;
      return length;
    },
    fstat: fd => stat(of(fd).node),
    stat: path => stat(at(path)),
    lstat: path => stat(at(path)),
    readdir: path => below(resolve(path)).map(p => p.slice(p.lastIndexOf("/") + 1)),
    mkdir(path) { add(path, made({ folder: true })); },
    unlink(path) {
      if (at(path).folder) throw fault("EISDIR");
      nodes.delete(resolve(path));
    },
    rmdir(path) {
      if (!at(path).folder) throw fault("ENOTDIR");
      if (below(resolve(path)).length) throw fault("ENOTEMPTY");
      nodes.delete(resolve(path));
    },
    rename(from, to) {
      const node = at(from);
      if (node.folder) throw fault("ENOSYS"); // nobody does
      nodes.delete(resolve(to));
      add(to, node);
      nodes.delete(resolve(from));
    },
    link(from, to) { add(to, at(from)); },
    truncate(path, length) { const node = at(path); grow(node, length); node.size = length; },
    ftruncate(fd, length) { const node = of(fd).node; grow(node, length); node.size = length; },
    fsync() {}, chmod() {}, fchmod() {}, chown() {}, fchown() {}, lchown() {}, utimes() {},
    symlink() { throw fault("ENOSYS"); },
    readlink() { throw fault("EINVAL"); },
  };

  const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  globalThis.fs = { constants, writeSync: (fd, buffer) => calls.write(fd, buffer, 0, buffer.length, null) };
  for (const [name, call] of Object.entries(calls)) {
    globalThis.fs[name] = (...args) => {
      const then = args.pop();
      let value;
      try { value = call(...args); } catch (e) { then(e.code ? e : fault("EIO")); return; }
      then(null, value);
    };
  }
  globalThis.process = { pid: 1, ppid: 0, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [], umask: () => 0o22, cwd: () => "/", chdir() { throw fault("ENOSYS"); } };
  globalThis.path = { resolve };

  // Runs command lines until one fails, and sends what is then in the folder.
  async function start({ engine, files, lines, folder }) {
    for (const { name, file } of files) add(name, made({ file }));
    let status = 0;
    for (const args of lines) {
      const go = new Go();
      go.argv = ["mvclust", ...args];
      go.exit = code => { status = code; };
      const kernel = kernelLoops(Uint8Array.from(atob(loops), c => c.charCodeAt(0)));
      const program = await WebAssembly.instantiate(engine, { ...go.importObject, kernel: kernel.imports });
      kernel.connect(program.exports.mem);
      await go.run(program);
      if (status) break;
    }
    const results = status || !nodes.has(resolve(folder)) ? [] : below(resolve(folder)).map(path => ({ name: path.slice(path.lastIndexOf("/") + 1), bytes: nodes.get(path).bytes.slice(0, nodes.get(path).size) }));
    postMessage({ status, said: said.concat(rest[2] || []), results }, results.map(r => r.bytes.buffer));
  }
  onmessage = e => start(e.data).catch(error => postMessage({ status: 2, said: said.concat(String(error)), results: [] }));
})();
