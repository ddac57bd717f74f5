
(() => {
  const { $, colours, root, theme, swatch, unseen, percent } = mvclust;
  const D = JSON.parse($("data").textContent);
  const bytes = text => {
    const raw = atob(text || ""), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  };
  const places = new Uint16Array(bytes(D.places).buffer);
  const near = new Uint32Array(bytes(D.near).buffer), odds = bytes(D.odds);
  const present = bytes(D.present), rows = new Uint32Array(bytes(D.rows).buffer);
  const n = D.drawn, shownNeighbours = 5;
  const id = i => D.ids ? D.ids[i] : String(rows[i]);
  // The level that is shown. A sample's cluster and confidence are its.
  const levels = D.levels.map(l => ({ ...l, labels: new Uint32Array(bytes(l.labels).buffer), sure: bytes(l.sure) }));
  let level = levels[D.level], { labels, sure } = level;
  const colour = c => c >= level.singles ? colours : c < level.colours.length ? level.colours[c] : c % colours;
  // Clusters of one colour have different shapes.
  const shape = c => c >= level.singles ? 0 : (c / colours | 0) % 4;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const canvas = $("canvas"), tip = $("tip"), g = canvas.getContext("2d", { alpha: false });
  let width = 0, height = 0, ratio = 1;
  let view = { k: 1, x: 0, y: 0 }, least = 1; // a place p is drawn at view.k * p + view.x
  let pointed = -1, pinned = -1, chosen = null, waiting = false, palette = [], text = "", ground = [], masks = new Map(), frame = null, pixels = null;

  // Bounds of all places.
  const box = { l: Infinity, t: Infinity, r: -Infinity, b: -Infinity };
  for (let i = 0; i < n; i++) {
    box.l = Math.min(box.l, places[2 * i]); box.r = Math.max(box.r, places[2 * i]);
    box.t = Math.min(box.t, places[2 * i + 1]); box.b = Math.max(box.b, places[2 * i + 1]);
  }
  const findMiddles = () => {
    const sums = [];
    for (let i = 0; i < n; i++) {
      const c = labels[i];
      const s = sums[c] || (sums[c] = [0, 0, 0]);
      s[0] += places[2 * i]; s[1] += places[2 * i + 1]; s[2]++;
    }
    return sums.map(s => [s[0] / s[2], s[1] / s[2]]);
  };
  let middles = findMiddles();

  // Points by square, to find those near a place.
  const squares = 96, grid = new Map();
  const square = (x, y) => (x * squares / 65536 | 0) * squares + (y * squares / 65536 | 0);
  for (let i = 0; i < n; i++) {
    const s = square(places[2 * i], places[2 * i + 1]);
    if (grid.has(s)) grid.get(s).push(i); else grid.set(s, [i]);
  }

  function readColours() {
    const probe = document.createElement("i");
    document.body.append(probe);
    const of = value => { probe.style.color = value; return getComputedStyle(probe).color; };
    const parts = value => of(value).match(/[\d.]+/g).slice(0, 3).map(Number);
    palette = Array.from({ length: colours + 1 }, (_, c) => parts(`var(--c${c})`));
    text = of("var(--text)");
    ground = parts("var(--bg)");
    probe.remove();
  }

  function outline(g, kind, x, y, r) {
    g.beginPath();
    if (kind === 1) g.rect(x - r * .85, y - r * .85, r * 1.7, r * 1.7);
    else if (kind === 2) { g.moveTo(x, y - r * 1.15); g.lineTo(x + r * 1.1, y + r * .8); g.lineTo(x - r * 1.1, y + r * .8); g.closePath(); }
    else if (kind === 3) { g.moveTo(x, y - r * 1.2); g.lineTo(x + r * 1.2, y); g.lineTo(x, y + r * 1.2); g.lineTo(x - r * 1.2, y); g.closePath(); }
    else g.arc(x, y, r, 0, 7);
  }

  // How much of each pixel a point covers, if it lies a half or no pixel to the right and down.
  function mask(kind, r, right, lower) {
    const key = `${kind} ${r} ${right} ${lower}`;
    let m = masks.get(key);
    if (m) return m;
    const half = Math.ceil(1.3 * r * ratio) + 1, side = 2 * half + 1, image = document.createElement("canvas");
    image.width = image.height = side;
    const p = image.getContext("2d", { willReadFrequently: true });
    outline(p, kind, half + .5 + right / 2, half + .5 + lower / 2, r * ratio);
    p.fill();
    m = { half, side, cover: p.getImageData(0, 0, side, side).data.filter((_, i) => i % 4 === 3) };
    masks.set(key, m);
    return m;
  }

  // Points are put into the picture by hand: thousands of calls to draw one each take far
  // longer where no graphics processor helps.
  function put(x, y, kind, r, [red, green, blue], strength) {
    x = Math.round(2 * x * ratio) / 2;
    y = Math.round(2 * y * ratio) / 2;
    const left = Math.floor(x), top = Math.floor(y), m = mask(kind, r, x > left ? 1 : 0, y > top ? 1 : 0);
    const w = frame.width, h = frame.height, data = frame.data;
    for (let b = Math.max(0, m.half - top), last = Math.min(m.side, h + m.half - top); b < last; b++) {
      let at = (b * m.side) + Math.max(0, m.half - left), to = 4 * ((top + b - m.half) * w + Math.max(0, left - m.half));
      for (const end = b * m.side + Math.min(m.side, w + m.half - left); at < end; at++, to += 4) {
        const cover = m.cover[at];
        if (!cover) continue;
        const a = cover * strength;
        data[to] += (red - data[to]) * a;
        data[to + 1] += (green - data[to + 1]) * a;
        data[to + 2] += (blue - data[to + 2]) * a;
      }
    }
  }

  function radius() {
    const base = Math.min(5, Math.max(1.5, .2 * Math.sqrt(width * height / Math.max(1, n))));
    return Math.round(4 * Math.min(10, base * Math.sqrt(view.k / least))) / 4;
  }

  function draw() {
    waiting = false;
    if (!frame) return;
    const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1, [red, green, blue] = ground;
    pixels.fill(little ? 255 << 24 | blue << 16 | green << 8 | red : red << 24 | green << 16 | blue << 8 | 255);
    const r = radius(), lit = chosen === null ? null : chosen;
    for (const front of lit === null ? [true] : [false, true]) {
      for (let i = 0; i < n; i++) {
        const c = labels[i];
        if (lit !== null && (c === lit) !== front) continue;
        const x = view.k * places[2 * i] + view.x, y = view.k * places[2 * i + 1] + view.y;
        if (x < -r || y < -r || x > width + r || y > height + r) continue;
        put(x, y, shape(c), r, palette[colour(c)], (front ? .45 + .55 * sure[i] / 255 : .13) / 255);
      }
    }
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.putImageData(frame, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    names();
    const at = pinned >= 0 ? pinned : pointed;
    if (at >= 0) links(at, r);
    if (document.activeElement === canvas && canvas.matches(":focus-visible")) {
      g.strokeStyle = text; g.lineWidth = 1;
      g.beginPath(); g.moveTo(width / 2 - 8, height / 2); g.lineTo(width / 2 + 8, height / 2);
      g.moveTo(width / 2, height / 2 - 8); g.lineTo(width / 2, height / 2 + 8); g.stroke();
    }
  }

  // The numbers of the larger clusters, where there is room.
  function names() {
    g.font = "600 12px system-ui, sans-serif";
    g.textAlign = "center"; g.textBaseline = "middle"; g.lineJoin = "round";
    const taken = [], most = view.k > 1.5 * least ? 400 : 40;
    for (let c = 0, shown = 0; c < Math.min(level.sizes.length, level.singles) && shown < most; c++) {
      if (!middles[c] || chosen !== null && c !== chosen) continue;
      const x = view.k * middles[c][0] + view.x, y = view.k * middles[c][1] + view.y;
      if (x < 0 || y < 0 || x > width || y > height) continue;
      if (taken.some(t => Math.abs(t[0] - x) < 26 && Math.abs(t[1] - y) < 16)) continue;
      taken.push([x, y]); shown++;
      g.strokeStyle = `rgb(${ground})`; g.lineWidth = 4; g.strokeText(c, x, y);
      g.fillStyle = text; g.fillText(c, x, y);
    }
  }

  function links(i, r) {
    const at = k => [view.k * places[2 * k] + view.x, view.k * places[2 * k + 1] + view.y];
    const [x, y] = at(i);
    g.strokeStyle = text; g.lineWidth = 1;
    for (let e = 0; e < shownNeighbours; e++) {
      const k = near[shownNeighbours * i + e], p = odds[shownNeighbours * i + e];
      if (!p || k >= n) continue;
      g.globalAlpha = .25 + .6 * p / 255;
      const [a, b] = at(k);
      g.beginPath(); g.moveTo(x, y); g.lineTo(a, b); g.stroke();
    }
    g.globalAlpha = 1; g.lineWidth = 2;
    outline(g, shape(labels[i]), x, y, r + 3); g.stroke();
  }

  function redraw() {
    if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  }

  function resize() {
    const at = canvas.getBoundingClientRect();
    if (!at.width || !at.height) return;
    const whole = view.k === least;
    width = at.width; height = at.height;
    ratio = Math.min(3, devicePixelRatio || 1);
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    frame = g.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(frame.data.buffer);
    masks.clear();
    const old = least;
    const all = fitting(box.l, box.t, box.r, box.b, 22);
    least = all.k;
    view = whole ? all : { k: view.k * least / old, x: view.x, y: view.y };
    draw();
  }

  // The view in which a box fills the canvas.
  function fitting(l, t, r, b, margin) {
    const k = Math.min((width - 2 * margin) / Math.max(1, r - l), (height - 2 * margin) / Math.max(1, b - t));
    return { k, x: (width - k * (l + r)) / 2, y: (height - k * (t + b)) / 2 };
  }

  function moved() {
    canvas.style.touchAction = view.k > least * 1.01 ? "none" : "pan-y";
    redraw();
  }

  function zoom(by, x, y) {
    const k = Math.min(80 * least, Math.max(least * .8, view.k * by));
    view = { k, x: x - (x - view.x) * k / view.k, y: y - (y - view.y) * k / view.k };
    moved();
  }

  function fly(to) {
    const from = view, start = performance.now();
    if (still.matches || document.hidden) { view = to; moved(); return; }
    const step = now => {
      const t = Math.min(1, (now - start) / 350), e = t * (2 - t), k = from.k * (to.k / from.k) ** e;
      // The middle of the canvas goes along a line.
      const middle = (v, size) => [(size / 2 - v.x) / v.k, (size / 2 - v.y) / v.k];
      const ax = middle(from, width)[0], bx = middle(to, width)[0], ay = middle(from, height)[1], by = middle(to, height)[1];
      view = t < 1 ? { k, x: width / 2 - k * (ax + (bx - ax) * e), y: height / 2 - k * (ay + (by - ay) * e) } : to;
      moved();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function closest(x, y, within) {
    const px = (x - view.x) / view.k, py = (y - view.y) / view.k, reach = within / view.k;
    const low = v => Math.max(0, Math.min(squares - 1, (v - reach) * squares / 65536 | 0));
    const high = v => Math.max(0, Math.min(squares - 1, (v + reach) * squares / 65536 | 0));
    let best = -1, least = reach * reach;
    for (let a = low(px); a <= high(px); a++) {
      for (let b = low(py); b <= high(py); b++) {
        for (const i of grid.get(a * squares + b) || []) {
          const d = (places[2 * i] - px) ** 2 + (places[2 * i + 1] - py) ** 2;
          if (d < least && (chosen === null || labels[i] === chosen)) { least = d; best = i; }
        }
      }
    }
    return best;
  }

  // What is told of a sample: lines of text.
  function words(i) {
    const out = [`cluster ${labels[i]}, confidence ${percent(sure[i] / 255)}`];
    if (present.length) {
      const has = D.views.filter((_, m) => present[(m >> 3) * n + i] >> (m & 7) & 1);
      out.push(has.length === D.views.length ? "all views" : "views: " + has.join(", "));
    } else if (D.views.length > 1) out.push("all views");
    const list = [];
    for (let e = 0; e < shownNeighbours; e++) {
      const p = odds[shownNeighbours * i + e];
      if (p) list.push(`${id(near[shownNeighbours * i + e])} (${(p / 255).toFixed(2)})`);
    }
    out.push(list.length ? "neighbours: " + list.join(", ") : "no neighbours");
    return out;
  }

  function tell(i) {
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.replaceChildren();
    const uri = D.thumbs && D.thumbs[i];
    if (uri) { const img = new Image(); img.src = uri; img.alt = ""; tip.append(img); }
    const head = document.createElement("b");
    head.textContent = id(i);
    tip.append(head);
    for (const line of words(i)) { const s = document.createElement("span"); s.textContent = line; tip.append(s); }
    const x = view.k * places[2 * i] + view.x, y = view.k * places[2 * i + 1] + view.y;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(width - w - 4, x + 14 + w > width ? x - w - 14 : x + 14)) + "px";
    tip.style.top = Math.max(4, Math.min(height - h - 4, y + 12)) + "px";
  }

  function say(sentence) { $("said").textContent = sentence; }

  function pin(i, aloud) {
    pinned = i;
    tell(i);
    if (i >= 0 && aloud) say([id(i), ...words(i)].join("; "));
    redraw();
  }

  // Highlights a cluster, or none if it is highlighted already.
  function choose(c, go) {
    chosen = c === chosen && !go ? null : c;
    for (const b of document.querySelectorAll("#legend button")) b.setAttribute("aria-pressed", String(Number(b.dataset.cluster) === chosen && chosen !== null));
    pin(-1);
    if (chosen === null) { say(""); fly(fitting(box.l, box.t, box.r, box.b, 22)); return; }
    let l = Infinity, t = Infinity, r = -Infinity, b = -Infinity, count = 0;
    for (let i = 0; i < n; i++) {
      if (labels[i] !== chosen) continue;
      count++;
      l = Math.min(l, places[2 * i]); r = Math.max(r, places[2 * i]);
      t = Math.min(t, places[2 * i + 1]); b = Math.max(b, places[2 * i + 1]);
    }
    say(`Cluster ${chosen} is highlighted: ${count} sample${count === 1 ? "" : "s"} on the map. Press Esc for all.`);
    if (!count) return;
    const to = fitting(l, t, r, b, Math.min(width, height) * .3), k = Math.min(to.k, 14 * least);
    fly({ k, x: width / 2 - k * (l + r) / 2, y: height / 2 - k * (t + b) / 2 });
  }

  function show(i) {
    if (i >= n) { choose(labels[i], true); say(`${id(i)} is not among the samples on the map; its cluster, ${labels[i]}, is highlighted.`); return; }
    if (chosen !== null && chosen !== labels[i]) choose(chosen);
    const k = Math.max(view.k, 4 * least), to = { k, x: width / 2 - k * places[2 * i], y: height / 2 - k * places[2 * i + 1] };
    view = to;
    moved();
    pin(i, true);
  }

  // Pointer: one moves the map, two zoom it.
  const down = new Map();
  let dragged = 0;
  const at = e => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  canvas.addEventListener("pointerdown", e => { down.set(e.pointerId, at(e)); dragged = 0; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", e => {
    const [x, y] = at(e), old = down.get(e.pointerId);
    if (!old) {
      const i = closest(x, y, 14);
      if (i !== pointed) { pointed = i; if (pinned < 0) { tell(i); redraw(); } canvas.style.cursor = i >= 0 ? "pointer" : "grab"; }
      return;
    }
    dragged += Math.abs(x - old[0]) + Math.abs(y - old[1]);
    if (down.size === 2) {
      const other = [...down].find(([k]) => k !== e.pointerId)[1];
      const before = Math.hypot(old[0] - other[0], old[1] - other[1]), after = Math.hypot(x - other[0], y - other[1]);
      if (before > 0) zoom(after / before, other[0], other[1]);
    } else if (e.pointerType !== "touch" || view.k > least * 1.01) {
      view = { k: view.k, x: view.x + x - old[0], y: view.y + y - old[1] };
      moved();
    }
    down.set(e.pointerId, [x, y]);
    if (dragged > 6) { pointed = -1; pin(-1); }
  });
  canvas.addEventListener("pointerup", e => {
    if (down.delete(e.pointerId) && dragged < 6 && !down.size) {
      const [x, y] = at(e), i = closest(x, y, e.pointerType === "touch" ? 24 : 14);
      pin(i, true);
      if (i < 0) say("");
    }
  });
  canvas.addEventListener("pointercancel", e => down.delete(e.pointerId));
  canvas.addEventListener("pointerleave", () => { pointed = -1; if (pinned < 0) tell(-1); redraw(); });
  canvas.addEventListener("wheel", e => {
    if (e.deltaY > 0 && view.k <= least * .81) return; // the page scrolls on
    e.preventDefault();
    pin(-1);
    zoom(Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0016)), ...at(e));
  }, { passive: false });
  canvas.addEventListener("focus", redraw);
  canvas.addEventListener("blur", redraw);

  function following(i) {
    for (let k = 1; k < n; k++) { const j = (i + k) % n; if (labels[j] === labels[i]) return j; }
    return i;
  }
  const keys = {
    ArrowLeft: () => { view.x += 60; moved(); }, ArrowRight: () => { view.x -= 60; moved(); },
    ArrowUp: () => { view.y += 60; moved(); }, ArrowDown: () => { view.y -= 60; moved(); },
    "+": () => zoom(1.4, width / 2, height / 2), "=": () => zoom(1.4, width / 2, height / 2), "-": () => zoom(1 / 1.4, width / 2, height / 2),
    0: () => $("fit").click(),
    Enter: () => { if (pinned >= 0) show(following(pinned)); else { const i = closest(width / 2, height / 2, 1e4); if (i >= 0) show(i); } },
    Escape: () => { if (pinned >= 0) pin(-1); else if (chosen !== null) choose(chosen); say(""); },
  };
  canvas.addEventListener("keydown", e => {
    const act = keys[e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    if (e.key.startsWith("Arrow") || e.key === "+" || e.key === "-" || e.key === "=") pin(-1);
    act();
  });

  $("in").onclick = () => { pin(-1); zoom(1.5, width / 2, height / 2); };
  $("out").onclick = () => { pin(-1); zoom(1 / 1.5, width / 2, height / 2); };
  $("fit").onclick = () => { pin(-1); fly(fitting(box.l, box.t, box.r, box.b, 22)); };
  $("search").addEventListener("submit", e => {
    e.preventDefault();
    const q = $("q").value.trim().toLowerCase();
    if (!q) return;
    let exact = -1, part = -1, parts = 0;
    for (let i = 0; i < labels.length && exact < 0; i++) {
      const name = id(i).toLowerCase();
      if (name === q) exact = i;
      else if (name.includes(q)) { parts++; if (part < 0 || name.startsWith(q) && !id(part).toLowerCase().startsWith(q)) part = i; }
    }
    const found = exact >= 0 ? exact : part;
    if (found < 0) { say(`No sample on this page has an id that contains “${$("q").value.trim()}”.`); return; }
    show(found);
    if (exact < 0 && parts > 1) say(`The first of ${parts} ids that contain it: ${$("said").textContent}`);
  });

  // Legend.
  const legend = () => { $("legend").replaceChildren(); for (let c = 0; c < Math.min(14, level.singles, level.sizes.length); c++) {
    const b = document.createElement("button"), size = document.createElement("small");
    b.type = "button"; b.dataset.cluster = c; b.setAttribute("aria-pressed", "false");
    size.textContent = level.sizes[c];
    b.append(swatch(colour(c)), unseen("Cluster "), String(c), unseen(", "), size, unseen(" samples"));
    b.onclick = () => choose(c);
    $("legend").append(b);
  } };
  legend();

  document.addEventListener("click", e => {
    const b = e.target.closest(".pick, .id");
    if (!b) return;
    $("map").scrollIntoView({ block: "center" });
    if (b.dataset.cluster !== undefined) choose(Number(b.dataset.cluster), true);
    else show(Number(b.dataset.place));
  });

  // Pictures in place of ids.
  if (D.thumbs) for (const b of document.querySelectorAll(".id")) {
    const uri = D.thumbs[b.dataset.place];
    if (!uri) continue;
    const img = new Image();
    img.alt = b.textContent; b.title = b.title ? `${b.textContent}, ${b.title}` : b.textContent;
    img.src = uri;
    b.replaceChildren(img);
    b.classList.add("pictured");
  }

  // The table of clusters.
  const bodies = $("table").tBodies, first = 15;
  let body = bodies[D.level], all = false;
  const list = () => {
    [...body.rows].forEach((row, k) => { row.hidden = !all && k >= first; });
    $("all").hidden = all || body.rows.length <= first;
    $("all").textContent = `Show all ${body.rows.length} clusters`;
  };
  $("all").onclick = () => { all = true; list(); };
  list();
  const sort = th => {
    const k = th.cellIndex, value = row => Number(row.cells[k].dataset.v), order = th.getAttribute("aria-sort") === "ascending" ? 1 : -1;
    body.append(...[...body.rows].sort((a, b) => order * (value(a) - value(b)) || Number(a.cells[0].dataset.v) - Number(b.cells[0].dataset.v)));
    list();
  };
  for (const b of document.querySelectorAll("#table thead button")) {
    b.onclick = () => {
      const th = b.closest("th"), k = th.cellIndex, up = th.getAttribute("aria-sort") === "descending" || k === 0 && th.getAttribute("aria-sort") !== "ascending";
      for (const other of th.parentNode.cells) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort(th);
    };
  }

  // Levels.
  function step(to) {
    if (levels[to] === level) return;
    level = levels[to];
    ({ labels, sure } = level);
    middles = findMiddles();
    chosen = null; pointed = -1;
    pin(-1);
    say("");
    legend();
    body = bodies[to];
    for (const e of document.querySelectorAll("[data-of]")) e.hidden = Number(e.dataset.of) !== to;
    for (const e of document.querySelectorAll("[data-level]")) e.setAttribute("aria-pressed", String(Number(e.dataset.level) === to));
    sort(document.querySelector("#table thead th[aria-sort]"));
    const [clusters, confidence] = ["Clusters", "Confidence"].map(name => document.querySelector(`[data-tile="${name}"]`));
    clusters.querySelector(".value").textContent = level.clusters;
    clusters.querySelector(".more-words").textContent = level.largest;
    confidence.querySelector(".value").textContent = level.mean;
    const alone = document.querySelector('[data-tile="Alone"]');
    if (alone) alone.hidden = to !== D.level;
    $("level-words").textContent = to === D.level ? "" : "not the result: scores and files are of the level that is";
    redraw();
  }
  for (const b of document.querySelectorAll("[data-level]")) {
    b.setAttribute("aria-pressed", String(Number(b.dataset.level) === D.level));
    b.addEventListener("click", () => step(Number(b.dataset.level)));
    if (b.tagName !== "BUTTON") b.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); step(Number(b.dataset.level)); } });
  }

  const repaint = () => { readColours(); redraw(); };
  theme(repaint);
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; readColours(); draw(); });
  addEventListener("afterprint", () => { if (before === undefined) delete root.dataset.theme; else root.dataset.theme = before; repaint(); });

  readColours();
  new ResizeObserver(resize).observe(canvas);
})();
