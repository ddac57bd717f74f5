
(() => {
  const { $, colours, theme, make, swatch, unseen, count } = mvclust;
  let state = null, busy = false, watching = 0;

  const colour = c => c % colours;
  const called = x => x.name ? `${x.name} (cluster ${x.cluster})` : `cluster ${x.cluster}`;

  async function ask(name, body) {
    const init = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(name, init);
    if (!reply.ok) throw new Error(`mvclust has refused the request (${reply.status}); reload the page`);
    return reply.json();
  }

  // Sends what to do and shows what came of it. One thing at a time.
  async function act(name, body) {
    if (busy) return;
    busy = true;
    try { show(await ask(name, body)); } catch (e) {
      if (state) levels(state.levels);
      problem(e instanceof TypeError ? "mvclust does not answer; is it still running?" : e.message);
    }
    busy = false;
  }

  function problem(words) {
    $("problem").textContent = words;
    $("problem").hidden = !words;
  }

  // A sample: its picture, or what is known of it.
  function card(x) {
    const box = make("figure", "sample");
    if (x.picture) {
      const img = make("img");
      img.alt = `Picture of ${x.id}`;
      img.onerror = () => img.replaceWith(make("p", "none", "no picture"));
      img.src = `picture?sample=${x.sample}`;
      box.append(img);
    }
    const cells = (state.columns || []).map((name, k) => [name, (x.cells || [])[k]]).filter(c => c[1]);
    if (cells.length) box.append(make("dl", "cells", ...cells.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value)))));
    box.append(make("figcaption", "", make("b", "", x.id), make("span", "", swatch(colour(x.cluster)), `${called(x)}, ${count(x.size, "sample")}`)));
    return box;
  }

  function question(q) {
    $("answers").hidden = false;
    for (const b of ["same", "different", "skip"]) $(b).hidden = !q;
    if (!q) {
      $("h-ask").textContent = "Nothing is left to ask";
      $("why").textContent = "All that may be one or two has been answered. You can still change whole clusters below.";
      $("pair").replaceChildren();
      return;
    }
    $("h-ask").textContent = "Do these two belong together?";
    $("why").textContent = q.why;
    $("pair").replaceChildren(card(q.a), card(q.b));
    $("if-same").textContent = q.same;
    $("if-different").textContent = q.different;
  }

  // A member in the list of clusters.
  function member(x) {
    if (!x.picture) return make("span", "id", x.id);
    const img = make("img");
    img.alt = img.title = x.id;
    img.loading = "lazy";
    img.onerror = () => img.replaceWith(make("span", "id", x.id));
    img.src = `picture?sample=${x.sample}`;
    return img;
  }

  function group(g) {
    const item = make("li", "group");
    const name = make("input");
    name.value = g.name;
    name.maxLength = 80;
    name.placeholder = "name";
    name.autocomplete = "off";
    name.setAttribute("aria-label", `Name of cluster ${g.number}`);
    name.onchange = () => act("name", { cluster: g.number, name: name.value });
    const into = make("select");
    into.setAttribute("aria-label", `Cluster to join with cluster ${g.number}`);
    const others = state.groups.filter(o => o.number !== g.number);
    const near = g.linked.map(n => others.find(o => o.number === n)).filter(Boolean);
    into.append(new Option("join with …", ""));
    for (const o of new Set([...near, ...others])) into.append(new Option(`${o.number}${o.name ? " " + o.name : ""} (${o.size})`, o.number));
    into.onchange = () => { if (into.value !== "") act("merge", { clusters: [g.number, Number(into.value)] }); };
    const split = make("button", "", "Split", unseen(` cluster ${g.number}`));
    split.type = "button";
    split.onclick = () => act("split", { cluster: g.number });
    item.append(
      make("p", "group-head", swatch(colour(g.number)), make("b", "", String(g.number)), make("small", "", count(g.size, "sample"))),
      make("p", "typical", ...g.central.map(member)),
      make("p", "group-tools", name, into, split));
    item.dataset.cluster = g.number;
    return item;
  }

  // The levels, with the clusters as they are where applied answers have left them between two.
  function levels(l) {
    $("levels").hidden = l.clusters.length < 2 && l.coarser < 0 && l.finer < 0;
    const focus = document.activeElement && document.activeElement.closest("#levels");
    const unit = (n, ...more) => [make("b", "", n.toLocaleString("en")), make("span", "unit", ` cluster${n === 1 ? "" : "s"}`), ...more];
    const result = () => make("small", "", " the result");
    const steps = l.clusters.map((n, k) => {
      const b = make("button", "", ...unit(n, ...(k === l.result ? [result()] : [])));
      b.type = "button";
      b.dataset.level = k;
      b.setAttribute("aria-pressed", String(k === l.now));
      b.onclick = () => step(k);
      return b;
    });
    if (l.now < 0) {
      const here = make("span", "here", ...unit(state.clusters, result()));
      steps.splice(l.finer < 0 ? steps.length : l.finer, 0, here);
    }
    const old = focus && document.activeElement;
    $("steps").replaceChildren(...steps);
    for (const [id, to] of [["coarser", l.coarser], ["finer", l.finer]]) {
      $(id).disabled = to < 0;
      $(id).onclick = () => step(to);
    }
    // What had the focus keeps it; what is gone or has nowhere to go leaves it to the level.
    if (old && (old.disabled || !old.isConnected)) (steps[l.now] || $("steps").querySelector("button")).focus();
    const own = l.clusters[l.now], words = [];
    if (l.now < 0) words.push("Applied answers have left the clusters between two levels.");
    else if (own !== state.clusters) words.push(`With your answers there are ${count(state.clusters, "cluster")} at this level.`);
    if (state.steps && l.now !== l.result) words.push(`The result stays ${l.result < 0 ? "as it is" : `at the level of ${count(l.clusters[l.result], "cluster")}`} until you apply.`);
    say(words.join(" "));
  }

  // Says something about the level, once.
  function say(words) {
    if ($("level-words").textContent !== words) $("level-words").textContent = words;
  }

  // Goes to a level. Many samples take a moment.
  function step(to) {
    if (busy || to < 0 || to === state.levels.now) return;
    say(`Going to ${count(state.levels.clusters[to], "cluster")} …`);
    act("level", { level: to });
  }

  function applying(p) {
    $("working").hidden = !p.running;
    $("doing").textContent = p.doing;
    $("bar").value = p.share;
    $("apply").disabled = p.running || !pending();
    if (p.problem) problem(p.problem);
    if (p.running && !watching) watching = setInterval(watch, 250);
  }

  // Looks how far the application is, and shows what came of it.
  async function watch() {
    try {
      const p = await ask("progress");
      if (p.running) { applying(p); return; }
      clearInterval(watching);
      watching = 0;
      show(await ask("state"));
    } catch {
      clearInterval(watching);
      watching = 0;
      problem("mvclust does not answer; is it still running?");
    }
  }

  // How much there is that the result does not have.
  const pending = () => state ? state.answers + state.steps : 0;

  function show(next) {
    const before = document.activeElement && document.activeElement.closest ? document.activeElement : null;
    const at = before && before.closest(".group") ? [before.closest(".group").dataset.cluster, before.tagName] : null;
    state = next;
    problem(state.problem);
    $("lead").textContent = `${count(state.clusters, "cluster")} in ${count(state.samples, "sample")}`;
    $("left").textContent = `${count(state.left.clusters, "question")} left about clusters, ${state.left.samples.toLocaleString("en")} about single samples`;
    levels(state.levels);
    question(state.question);
    $("undo").disabled = !pending();
    $("if-undo").textContent = state.levels.undo ? "back to the level before" : state.answers ? `${count(state.answers, "answer")} to take back` : "nothing to take back";
    $("pending").textContent = pending()
      ? `${said(state.answers, state.steps)} so far. Applying writes the labels, the report and the model anew, as the page shows the clusters now.`
      : state.applied ? "All answers are applied." : "There is no answer yet.";
    const c = state.changes;
    $("changes").textContent = c ? `Done: ${count(c.before, "cluster")} before, ${c.after.toLocaleString("en")} now; ${count(c.moved, "sample")} moved, by ${said(c.answers, c.levels)}.` : "";
    $("groups").replaceChildren(...state.groups.map(group));
    const rest = state.clusters - state.groups.length;
    $("rest").textContent = rest > 0 ? `${count(rest, "smaller cluster")} are not listed.` : "";
    applying(state.progress);
    if (at) {
      const again = document.querySelector(`.group[data-cluster="${at[0]}"] ${at[1]}`);
      if (again) again.focus();
    }
  }

  const said = (answers, steps) => [answers || !steps ? count(answers, "answer") : "", steps ? count(steps, "step") + " between levels" : ""].filter(Boolean).join(" and ");

  const answer = verdict => {
    const q = state && state.question;
    if (q) act("answer", { a: q.a.sample, b: q.b.sample, answer: verdict });
  };
  $("same").onclick = () => answer("same");
  $("different").onclick = () => answer("different");
  $("skip").onclick = () => answer("skip");
  $("undo").onclick = () => { if (pending()) act("undo", {}); };
  $("apply").onclick = () => { if (pending()) act("apply", {}); };
  const keys = { s: "same", d: "different", k: "skip", u: "undo", a: "apply", c: "coarser", f: "finer" };
  addEventListener("keydown", e => {
    const button = keys[e.key.toLowerCase()];
    if (!button || e.ctrlKey || e.metaKey || e.altKey || e.repeat || e.target.closest("input, select, textarea")) return;
    e.preventDefault();
    $(button).click();
  });

  theme(() => {});
  ask("state").then(show, () => problem("mvclust does not answer; is it still running?"));
})();
