"use strict";
// A choice shows at once; `/` goes to the search; the button beside a choice is for browsers without scripts.
(() => {
  const picker = document.getElementById("snapshot");
  if (picker) {
    picker.form.querySelector("button").hidden = true;
    picker.addEventListener("change", () => picker.form.submit());
  }
  const pair = document.getElementById("pair");
  if (pair) pair.addEventListener("change", () => location.assign(pair.value));
  if (!document.getElementById("graph")) {
    window.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      document.getElementById("q").focus();
    });
  }
})();
