"use strict";
// A choice shows at once; `/` goes to the search; the buttons beside choices are for browsers without scripts.
(() => {
  for (const name of ["snapshot", "against"]) {
    const choice = document.getElementById(name);
    if (!choice) continue;
    choice.form.querySelector("button").hidden = true;
    choice.addEventListener("change", () => choice.form.submit());
  }
  const pair = document.getElementById("pair");
  if (pair) pair.addEventListener("change", () => location.assign(pair.value));
  const root = document.documentElement, kept = localStorage.getItem("theme"), theme = document.getElementById("theme");
  if (kept) root.dataset.theme = kept;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
  window.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    (document.getElementById("words") || document.getElementById("q")).focus();
  });
  const hits = [...document.querySelectorAll(".hits li")].map((hit) => hit.querySelector("a"));
  window.addEventListener("keydown", (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!hits.length || !step || event.target.matches("select")) return;
    const next = hits.indexOf(document.activeElement) + step;
    (hits[next] || document.getElementById("q")).focus();
    event.preventDefault();
  });
})();
