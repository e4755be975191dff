"use strict";
// What is known of a marked expression, at the pointer, under the keyboard or at a touch.
(() => {
  const marks = document.querySelectorAll("mark[data-about]");
  if (!marks.length) return;
  const hint = document.createElement("div");
  hint.id = "hint";
  hint.setAttribute("role", "tooltip");
  hint.hidden = true;
  document.body.append(hint);
  const show = (mark) => {
    hint.textContent = mark.dataset.about;
    hint.hidden = false;
    const area = mark.getBoundingClientRect();
    const room = document.documentElement.clientWidth - hint.offsetWidth - 8;
    hint.style.left = `${Math.max(8, Math.min(area.left, room)) + scrollX}px`;
    hint.style.top = `${area.bottom + scrollY + 4}px`;
    mark.setAttribute("aria-describedby", "hint");
  };
  const hide = (mark) => { hint.hidden = true; mark.removeAttribute("aria-describedby"); };
  for (const mark of marks) {
    mark.addEventListener("mouseenter", () => show(mark));
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("mouseleave", () => hide(mark));
    mark.addEventListener("blur", () => hide(mark));
  }
  window.addEventListener("keydown", (event) => { if (event.key === "Escape") hint.hidden = true; });
})();
