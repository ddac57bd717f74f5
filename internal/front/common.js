
"use strict";
// What all pages share.
const mvclust = (() => {
  const $ = id => document.getElementById(id);
  const colours = 8;
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;

  // Light and dark; then is called when they change.
  function theme(then) {
    $("theme").onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; then(); };
    dark.addEventListener("change", then);
  }

  // An element with a class and children, which are elements or text.
  function make(tag, name, ...children) {
    const e = document.createElement(tag);
    if (name) e.className = name;
    e.append(...children);
    return e;
  }

  // A dot in the colour of a cluster.
  const swatch = colour => make("i", `swatch c${colour}`);
  const unseen = words => make("span", "hidden", words);
  const percent = x => (100 * x).toFixed(1) + "%";
  const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
  return { $, colours, root, theme, make, swatch, unseen, percent, count };
})();
