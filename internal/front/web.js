
(() => {
  const { $, root, theme, make, unseen, count } = mvclust;
  // The parts that a file can play, and what the name beside it then is; "" where there is none.
  const parts = {
    view: ["views", "all"], truth: ["known classes", "labels"], both: ["views and known classes", "labels"],
    examples: ["examples of classes", "label"], same: ["pairs that belong together", ""], apart: ["pairs to keep apart", ""],
    edges: ["links between samples", "from,to,weight"], none: ["not used", ""],
  };
  const folder = "mvclust-out", results = ["report.html", "labels.csv", "levels.csv", "run.json", "model.mvclust"];
  // What "mvclust demo" does.
  const made = "synth.npz", demo = [
    ["synth", "--output", ".", "--samples", "1500", "--classes", "20", "--views", "3", "--imbalance", "0.5", "--noise", "0.6", "--missing", "0.2", "--outliers", "0.02"],
    ["fit", made, "--truth", `${made}:labels`],
  ];
  let chosen = [], worker = null, stages = [], links = [];

  // The program is in the page. It is unpacked and compiled once.
  const engine = new Promise(then => addEventListener("DOMContentLoaded", then)).then(async () => {
    const raw = atob($("engine").textContent.trim()), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    $("engine").remove();
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  });
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

  const bytes = n => n < 1e3 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toPrecision(3)} kB` : n < 1e9 ? `${(n / 1e6).toPrecision(3)} MB` : `${(n / 1e9).toPrecision(3)} GB`;
  const seconds = s => s < 60 ? `${Math.max(1, Math.ceil(s))} s` : `${Math.floor(s / 60)} min ${Math.ceil(s % 60)} s`;

  // A command line as it is typed.
  const quoted = args => "mvclust " + args.map(a => /^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replaceAll("'", `'\\''`)}'`).join(" ");

  // The words of a line of flags; quotes keep spaces together.
  const words = text => [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(m => m[0].replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));

  // The arguments of fit, as the table of files has them.
  function fitArgs() {
    const sources = [], flags = [];
    for (const f of chosen) {
      const path = f.file.name.startsWith("-") ? `./${f.file.name}` : f.file.name, named = f.name ? `${path}:${f.name}` : path;
      if (f.part === "view") sources.push(named);
      if (f.part === "both") sources.push(path);
      if (f.part === "truth" || f.part === "both") flags.push("--truth", f.part === "both" ? `${path}:${f.name || parts.both[1]}` : named);
      if (f.part === "edges") flags.push("--edges", named);
      if (f.part === "examples") flags.push("--examples", named);
      if (f.part === "same") flags.push("--must-link", path);
      if (f.part === "apart") flags.push("--cannot-link", path);
    }
    if ($("ids").value.trim()) flags.push("--id", $("ids").value.trim());
    if ($("clusters").value.trim()) flags.push("--clusters", $("clusters").value.trim());
    return ["fit", ...sources, ...flags, ...words($("flags").value)];
  }

  // Which of the page's states is shown.
  function state(name) {
    $("choosing").hidden = name !== "choosing";
    $("running").hidden = name !== "running";
    $("done").hidden = name !== "done";
    document.body.classList.toggle("finished", name === "done");
  }

  function problem(sentence, instead) {
    $("problem").hidden = !sentence;
    $("problem-words").textContent = sentence;
    $("instead").hidden = !instead;
    $("instead").querySelector("code").textContent = instead || "";
    if (sentence) scrollTo(0, 0);
  }

  // Says something beside the buttons.
  const tell = words => { for (const e of document.querySelectorAll(".state")) e.textContent = words; };

  // The files.

  // What a file is likely to be, by its name.
  const guess = name => /^(labels?|truth|classes|gt|y)(?![a-z0-9])/i.test(name) ? "truth" : /^(edges|links)(?![a-z0-9])/i.test(name) ? "edges" : "view";

  function add(list) {
    for (const file of list) {
      chosen = chosen.filter(f => f.file.name !== file.name);
      chosen.push({ file, name: "", part: guess(file.name) });
    }
    problem("");
    files();
    if (chosen.length) $("go").focus({ preventScroll: true });
  }

  function row(f) {
    const part = make("select"), name = make("input"), remove = make("button", "", "×", unseen(` Remove ${f.file.name}`));
    part.append(...Object.entries(parts).map(([value, [label]]) => new Option(label, value, false, value === f.part)));
    part.setAttribute("aria-label", `Use ${f.file.name} as`);
    name.setAttribute("aria-label", `Array or column of ${f.file.name}`);
    name.autocomplete = "off";
    name.spellcheck = false;
    const follow = () => {
      f.part = part.value;
      f.name = name.value.trim();
      name.placeholder = parts[f.part][1];
      name.hidden = !parts[f.part][1];
      line();
    };
    name.value = f.name;
    part.onchange = name.oninput = follow;
    remove.type = "button";
    remove.title = "Remove";
    remove.onclick = () => { chosen = chosen.filter(other => other !== f); files(); (chosen.length ? $("more") : $("choose")).focus(); };
    follow();
    const file = make("th", "", f.file.name);
    file.scope = "row";
    return make("tr", "", file, make("td", "", bytes(f.file.size)), make("td", "", part), make("td", "", name), make("td", "", remove));
  }

  const line = () => { $("line").textContent = quoted(fitArgs()); };

  function files() {
    $("drop").hidden = chosen.length > 0;
    $("chosen").hidden = !chosen.length;
    $("files").replaceChildren(...chosen.map(row));
    line();
  }

  // A run.

  function progress(p) {
    if (p.note) { $("told").append(make("li", "", p.note)); return; }
    const now = performance.now(), at = stages[stages.length - 1];
    if (!at || at.name !== p.stage) {
      if (at) finish(at, now);
      const time = make("span"), item = make("li", "at", make("span", "", p.stage), time);
      stages.push({ name: p.stage, begun: now, item, time });
      $("stages").append(item);
      $("stage").textContent = p.stage;
    } else at.time.textContent = p.total > 1 ? `${Math.floor(100 * p.done / p.total)}%` : "";
    $("bar").value = p.share;
    $("share").textContent = `${Math.floor(100 * p.share)}%`;
    $("left").textContent = p.seconds_left === undefined ? "" : `${seconds(p.seconds_left)} left`;
  }

  function finish(stage, now) {
    stage.item.className = "";
    stage.time.textContent = `${((now - stage.begun) / 1e3).toFixed(1)} s`;
  }

  function begin() {
    problem("");
    tell("");
    stages = [];
    for (const list of ["stages", "told"]) $(list).replaceChildren();
    $("share").textContent = $("left").textContent = "";
    $("bar").removeAttribute("value");
    state("running");
    scrollTo(0, 0);
    $("h-running").focus({ preventScroll: true });
  }

  function end() {
    if (worker) worker.terminate();
    worker = null;
  }

  // Runs command lines on files; typed is what would be typed in a terminal.
  async function run(lines, input, typed) {
    if (worker) return;
    begin();
    const own = worker = new Worker(code);
    const failed = sentence => { if (worker === own) { end(); failure(sentence, typed); } };
    own.onerror = e => failed(e.message || "The program ended without a word");
    own.onmessage = ({ data }) => {
      if (worker !== own) return;
      if (data.progress) progress(data.progress);
      else if (data.status) failed(data.said.find(s => /out of memory|^mvclust: /.test(s)) || data.said[0] || "The program ended without a word");
      else { end(); show(data.results, typed); }
    };
    try {
      own.postMessage({ engine: await engine, files: input, lines: lines.map(args => args[0] === "fit" ? [...args, "--progress-json", "--output", folder] : args), folder });
    } catch (e) {
      failed(`This browser cannot run the program: ${e.message}`);
    }
  }

  // Says why nothing came of a run, and where memory is what lacks, what to do instead.
  function failure(sentence, typed) {
    state("choosing");
    const memory = /\bmemory\b/.test(sentence);
    if (/out of memory/.test(sentence)) sentence = "The browser has no more memory for this page; give fewer samples or features";
    sentence = sentence.replace(/^mvclust: /, "");
    problem(sentence, memory ? typed : "");
    if (chosen.length) $("go").focus({ preventScroll: true });
  }

  // Shows the report, and offers the files.
  function show(found) {
    const of = name => found.find(r => r.name === name), text = name => new TextDecoder().decode(of(name).bytes);
    const r = JSON.parse(text("run.json"));
    $("found").textContent = `${count(r.clusters, "cluster")} in ${count(r.inputs.samples, "sample")}`;
    links.forEach(URL.revokeObjectURL);
    links = [];
    const names = [...new Set([...results, ...found.map(x => x.name)])].filter(of);
    $("saves").replaceChildren(make("span", "", "Save"), ...names.map(name => {
      const a = make("a", "", name);
      a.download = name;
      a.href = URL.createObjectURL(new Blob([of(name).bytes], { type: "application/octet-stream" }));
      links.push(a.href);
      return a;
    }));
    state("done");
    $("report").srcdoc = text("report.html");
    $("found").focus({ preventScroll: true });
  }

  // The report is light or dark with the page, and the page with the report. Links within the
  // report would lead to the page, since the report has no address.
  $("report").onload = () => {
    const report = $("report").contentDocument, inside = report && report.documentElement;
    if (!inside) return;
    report.addEventListener("click", e => {
      const link = e.target.closest('a[href^="#"]'), to = link && report.getElementById(link.hash.slice(1));
      if (!link) return;
      e.preventDefault();
      to.tabIndex = -1;
      to.focus();
    });
    if (root.dataset.theme) inside.dataset.theme = root.dataset.theme;
    new MutationObserver(() => { root.dataset.theme = inside.dataset.theme; }).observe(inside, { attributeFilter: ["data-theme"] });
  };

  $("choose").onclick = $("more").onclick = () => $("picked").click();
  $("picked").onchange = () => { add($("picked").files); $("picked").value = ""; };
  $("example").onclick = () => run(demo, [], "mvclust demo");
  $("go").onclick = () => { const args = fitArgs(); run([args], chosen.map(f => ({ name: f.file.name, file: f.file })), quoted(args)); };
  $("stop").onclick = () => { end(); state("choosing"); problem(""); tell("Stopped; nothing was kept."); (chosen.length ? $("go") : $("example")).focus(); };
  $("again").onclick = () => { state("choosing"); $("report").srcdoc = ""; files(); (chosen.length ? $("go") : $("choose")).focus(); };
  for (const id of ["ids", "clusters", "flags"]) $(id).oninput = line;

  // Files can be dropped anywhere, but while the program runs.
  let over = 0;
  const mark = by => { over = Math.max(0, over + by); document.body.classList.toggle("over", over > 0); };
  addEventListener("dragenter", e => { e.preventDefault(); mark(1); });
  addEventListener("dragleave", () => mark(-1));
  addEventListener("dragover", e => e.preventDefault());
  addEventListener("drop", e => { e.preventDefault(); mark(-over); if ($("running").hidden && $("done").hidden) add(e.dataTransfer.files); });

  theme(() => {});
  files();
  tell("Loading the program …");
  engine.then(() => tell(""),
    e => { $("go").disabled = $("example").disabled = true; problem(`This browser cannot run the program: ${e.message}`); });
})();
