
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [head, row, most] = data.metrics;
  const svg = document.getElementById("graph"), view = document.getElementById("view");
  const panel = document.getElementById("panel"), search = document.getElementById("search");
  const found = document.getElementById("found"), map = document.getElementById("map");
  const legend = document.getElementById("legend");
  const signs = {added: "+ ", removed: "− ", changed: "≠ "};
  const kinds = {"view": "view", "materialized view": "view", "procedure": "code", "function": "code",
    "trigger": "code", "script": "code", "temp table": "vague", "unknown": "vague", "external": "vague"};

  const make = (tag, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.append(made);
    return made;
  };
  const put = (tag, text, parent, type) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (type) made.className = type;
    parent.append(made);
    return made;
  };

  // ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────
  const defs = make("defs", {}, view);
  for (const name of ["arrow", "up", "down"]) {
    const marker = make("marker", {id: "tip-" + name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
      markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse"}, defs);
    make("path", {d: "M0 0L8 4L0 8z", fill: `var(--${name})`}, marker);
  }
  const arrowLayer = make("g", {}, view), boxLayer = make("g", {}, view), flowLayer = make("g", {}, view);

  const curve = (points) => {
    let path = `M${points[0][0]} ${points[0][1]}`;
    for (let at = 1; at < points.length; at++) {
      const [x0, y0] = points[at - 1], [x1, y1] = points[at];
      const bend = Math.max(24, Math.abs(x1 - x0) / 2);
      path += `C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
    }
    return path;
  };
  const middle = (box) => box.at[1] + (box.columns.length ? head / 2 : box.at[3] / 2);
  const height = (box, column) =>
    column < 0 ? middle(box) : box.at[1] + head + (Math.min(column, most) + 0.5) * row;
  const way = (source, target, y0, y1, through) => {
    const start = [source.at[0] + source.at[2], y0], end = [target.at[0], y1];
    return curve([start, ...through, end]);
  };

  const arrows = data.arrows.map(([from, to, through, how, state]) => {
    const source = data.boxes[from], target = data.boxes[to];
    const line = make("path", {class: "arrow " + state, "marker-end": "url(#tip-arrow)",
      d: way(source, target, middle(source), middle(target), through)}, arrowLayer);
    make("title", {}, line).textContent = `${state ? state + ": " : ""}${source.name} → ${target.name} (${how})`;
    return {from, to, line};
  });

  const boxes = data.boxes.map((box, number) => {
    const [x, y, wide, high] = box.at;
    const group = make("g", {class: `box ${kinds[box.kind] || "table"} ${box.state}`, transform: `translate(${x} ${y})`,
      tabindex: 0, role: "button"}, boxLayer);
    group.setAttribute("aria-label", `${box.kind} ${box.name}${box.state ? ", " + box.state : ""}`);
    make("title", {}, group).textContent = `${box.name}\n${box.kind}${box.place ? "\n" + box.place : ""}${box.state ? "\n" + box.state : ""}`;
    make("rect", {class: "frame", width: wide, height: high, rx: 8}, group);
    const band = box.columns.length ? head : high;
    make("path", {class: "band", d: `M1 ${band}V9a8 8 0 0 1 8-8H${wide - 9}a8 8 0 0 1 8 8V${band}` +
      (box.columns.length ? "z" : `v-8a8 8 0 0 1-8 8H9a8 8 0 0 1-8-8z`)}, group);
    make("text", {class: "name", x: 12, y: head / 2 + 5}, group).textContent =
      (signs[box.state] || "") + box.label;
    const last = box.label.slice(box.label.lastIndexOf(box.kind === "script" ? "/" : ".") + 1) || box.label;
    const size = Math.min((wide - 16) / (0.62 * last.length), high * 0.6, 64);
    make("text", {class: "far", x: wide / 2, y: high / 2 + size / 3, "text-anchor": "middle",
      "font-size": size}, group).textContent = (signs[box.state] || "") + last;
    const lines = box.columns.slice(0, most).map(([name, kind, full, state], place) => {
      const line = make("g", {class: "column " + state, transform: `translate(0 ${head + place * row})`}, group);
      make("title", {}, line).textContent = `${full} ${kind}${state ? "\n" + state : ""}`;
      make("rect", {x: 1, y: 0, width: wide - 2, height: row}, line);
      make("text", {x: 12, y: 14}, line).textContent = (signs[state] || "") + name;
      make("text", {class: "type", x: wide - 12, y: 14, "text-anchor": "end"}, line).textContent = kind;
      line.addEventListener("click", (event) => { event.stopPropagation(); if (!dragged) choose(number, place); });
      return line;
    });
    if (box.columns.length > most) {
      make("text", {class: "rest", x: 12, y: head + most * row + 14}, group).textContent =
        `… ${box.columns.length - most} more`;
    }
    group.addEventListener("click", () => { if (!dragged) choose(number, -1); });
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(number, -1); }
    });
    return {box, group, lines};
  });

  const squeeze = (text, room) => {
    if (text.getComputedTextLength() <= room) return;
    text.setAttribute("textLength", Math.max(room, 1));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  };
  for (const {box, group, lines} of boxes) {
    squeeze(group.querySelector(".name"), box.at[2] - 24);
    for (const line of lines) {
      const [name, kind] = line.querySelectorAll("text");
      squeeze(name, box.at[2] - 34 - kind.getComputedTextLength());
    }
  }

  // ── following ────────────────────────────────────────────────────────────────────────────────────────────────
  const links = (pairs) => {
    const after = new Map(), before = new Map();
    for (const [from, to] of pairs) {
      if (!after.has(from)) after.set(from, []);
      if (!before.has(to)) before.set(to, []);
      after.get(from).push(to);
      before.get(to).push(from);
    }
    return {after, before};
  };
  const reach = (start, map) => {
    const seen = new Set(start), border = [...start];
    while (border.length) {
      for (const next of map.get(border.pop()) || []) if (!seen.has(next)) { seen.add(next); border.push(next); }
    }
    start.forEach((one) => seen.delete(one));
    return seen;
  };
  const tables = links(data.arrows);
  const key = (box, column) => box + "/" + column;
  const flows = data.flows.map(([from, fromColumn, to, toColumn, direct, how, state, vague]) =>
    ({from, fromColumn, to, toColumn, direct, how, state, vague, source: key(from, fromColumn), target: key(to, toColumn)}));
  const columns = links(flows.filter((flow) => flow.direct).map((flow) => [flow.source, flow.target]));

  const clear = () => {
    for (const shown of view.querySelectorAll(".up, .down, .chosen")) shown.classList.remove("up", "down", "chosen");
    for (const arrow of arrows) arrow.line.setAttribute("marker-end", "url(#tip-arrow)");
    flowLayer.replaceChildren();
    view.classList.remove("chosing");
  };
  const paint = (line, side) => { line.classList.add(side); line.setAttribute("marker-end", `url(#tip-${side})`); };

  function choose(number, column) {
    clear();
    view.classList.add("chosing");
    boxes[number].group.classList.add("chosen");
    if (column < 0) chooseBox(number); else chooseColumn(number, column);
    describe(number, column);
    const name = data.boxes[number].name + (column < 0 ? "" : "#" + data.boxes[number].columns[column][2]);
    history.replaceState(null, "", "#" + encodeURIComponent(name));
  }
  function chooseBox(number) {
    const up = reach([number], tables.before), down = reach([number], tables.after);
    up.forEach((other) => boxes[other].group.classList.add("up"));
    down.forEach((other) => boxes[other].group.classList.add("down"));
    up.add(number); down.add(number);
    for (const arrow of arrows) {
      if (up.has(arrow.from) && up.has(arrow.to)) paint(arrow.line, "up");
      else if (down.has(arrow.from) && down.has(arrow.to)) paint(arrow.line, "down");
    }
  }
  function chooseColumn(number, column) {
    const start = key(number, column);
    const up = reach([start], columns.before), down = reach([start], columns.after);
    const mark = (name, side) => {
      const [box, at] = name.split("/").map(Number);
      boxes[box].group.classList.add(side);
      if (boxes[box].lines[at]) boxes[box].lines[at].classList.add(side);
    };
    up.forEach((name) => mark(name, "up"));
    down.forEach((name) => mark(name, "down"));
    if (boxes[number].lines[column]) boxes[number].lines[column].classList.add("chosen");
    up.add(start); down.add(start);
    for (const flow of flows) {
      const decides = !flow.direct && flow.to === number && (flow.toColumn === column || flow.toColumn < 0);
      const side = (flow.direct && up.has(flow.source) && up.has(flow.target)) || decides ? "up"
        : flow.direct && down.has(flow.source) && down.has(flow.target) ? "down" : "";
      if (!side) continue;
      if (decides) boxes[flow.from].group.classList.add("up");
      const source = data.boxes[flow.from], target = data.boxes[flow.to];
      const line = make("path", {class: `flow ${flow.state}${flow.direct ? "" : " indirect"}${flow.vague ? " vague" : ""}`,
        d: way(source, target, height(source, flow.fromColumn), height(target, flow.toColumn), [])}, flowLayer);
      make("title", {}, line).textContent = (flow.state ? flow.state + ": " : "") + flow.how.toLowerCase();
      paint(line, side);
    }
  }

  // ── the panel ────────────────────────────────────────────────────────────────────────────────────────────────
  const link = (list, text, note, number, column) => {
    const item = put("li", "", list), button = put("button", text, item);
    if (note) put("small", note, item);
    button.addEventListener("click", () => { choose(number, column); show(number); });
  };
  const section = (title, entries) => {
    if (!entries.length) return;
    put("h3", `${title} (${entries.length})`, panel);
    const list = put("ul", "", panel);
    entries.slice(0, 500).forEach((entry) => link(list, ...entry));
    if (entries.length > 500) put("p", `and ${entries.length - 500} more`, panel);
  };
  const labeled = (box, column) =>
    data.boxes[box].name + (column < 0 ? "" : "." + data.boxes[box].columns[column][2]);
  function describe(number, column) {
    panel.replaceChildren();
    const box = data.boxes[number], close = put("button", "Close", panel);
    close.id = "close";
    close.addEventListener("click", dismiss);
    put("h2", labeled(number, column), panel);
    put("p", column < 0 ? box.kind : box.columns[column][1], panel);
    if (box.place) put("p", box.place, panel);
    for (const [text, address] of (data.links || {})[box.name] || []) {
      const anchor = put("a", text, put("p", "", panel));
      anchor.href = address;
    }
    if (column < 0) {
      section("Made of", data.arrows.filter((one) => one[1] === number)
        .map((one) => [data.boxes[one[0]].name, one[3], one[0], -1]));
      section("Read by", data.arrows.filter((one) => one[0] === number)
        .map((one) => [data.boxes[one[1]].name, one[3], one[1], -1]));
      section("Columns", box.columns.map(([, kind, name], place) => [name, kind, number, place]));
    } else {
      const into = flows.filter((flow) => flow.to === number);
      section("From", into.filter((flow) => flow.toColumn === column)
        .map((flow) => [labeled(flow.from, flow.fromColumn), flow.how, flow.from, flow.fromColumn]));
      section("To", flows.filter((flow) => flow.from === number && flow.fromColumn === column)
        .map((flow) => [labeled(flow.to, flow.toColumn), flow.how, flow.to, flow.toColumn]));
      section("All of it depends on", into.filter((flow) => flow.toColumn < 0)
        .map((flow) => [labeled(flow.from, flow.fromColumn), flow.how, flow.from, flow.fromColumn]));
    }
    panel.hidden = false;
  }
  function dismiss() {
    clear();
    panel.hidden = true;
    history.replaceState(null, "", location.pathname + location.search);
  }

  // ── moving about ─────────────────────────────────────────────────────────────────────────────────────────────
  let scale = 1, left = 0, top = 0, dragged = false, held = null;
  const apply = () => {
    view.setAttribute("transform", `translate(${left} ${top}) scale(${scale})`);
    view.classList.toggle("distant", scale < 0.5);
    frame();
  };
  // ── the small map: all boxes, and the part of them that is to be seen ──────────────────────────────────────────
  let shade = null;
  const [mapWidth, mapHeight] = [180, 120];
  const ratio = Math.min(mapWidth / Math.max(data.size[0], 1), mapHeight / Math.max(data.size[1], 1));
  function drawMap() {
    map.setAttribute("viewBox", `0 0 ${mapWidth} ${mapHeight}`);
    const inner = make("g", {transform: `translate(${(mapWidth - data.size[0] * ratio) / 2} ` +
      `${(mapHeight - data.size[1] * ratio) / 2}) scale(${ratio})`}, map);
    for (const box of data.boxes) {
      const [x, y, width, height] = box.at;
      make("rect", {class: "spot " + box.state, x, y, width, height}, inner);
    }
    shade = make("rect", {class: "seen"}, inner);
    const go = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(inner.getScreenCTM().inverse());
      const [cx, cy] = center();
      left = cx - at.x * scale;
      top = cy - at.y * scale;
      apply();
      event.preventDefault();
    };
    map.addEventListener("pointerdown", go);
    map.addEventListener("pointermove", go);
  }
  function frame() {
    if (!map) return;
    const area = svg.getBoundingClientRect(), [wide, high] = data.size;
    const all = left >= 0 && top >= 0 && left + wide * scale <= area.width && top + high * scale <= area.height;
    map.toggleAttribute("hidden", all || area.width < 500);
    if (map.hasAttribute("hidden")) return;
    if (!shade) drawMap();
    const values = {x: -left / scale, y: -top / scale, width: area.width / scale, height: area.height / scale};
    for (const [name, value] of Object.entries(values)) shade.setAttribute(name, value);
  }
  const zoom = (factor, x, y) => {
    const next = Math.min(3, Math.max(0.02, scale * factor));
    left = x - (x - left) * next / scale;
    top = y - (y - top) * next / scale;
    scale = next;
    apply();
  };
  const center = () => { const area = svg.getBoundingClientRect(); return [area.width / 2, area.height / 2]; };
  function fit() {
    const area = svg.getBoundingClientRect(), [wide, high] = data.size, edge = 32;
    scale = Math.min(1.2, (area.width - edge) / Math.max(wide, 1), (area.height - edge) / Math.max(high, 1));
    scale = Math.max(scale, 0.02);
    left = (area.width - wide * scale) / 2;
    top = (area.height - high * scale) / 2;
    apply();
  }
  function begin() {
    fit();
    if (scale >= 0.4 || !data.arrows.length) return;
    const degrees = data.boxes.map(() => 0);
    for (const [from, to] of data.arrows) { degrees[from]++; degrees[to]++; }
    show(degrees.indexOf(Math.max(...degrees)), 0.4);
  }
  function show(number, least = 0.8) {
    const [x, y, wide, high] = data.boxes[number].at, [cx, cy] = center();
    scale = Math.max(scale, least);
    left = cx - (x + wide / 2) * scale;
    top = cy - (y + Math.min(high, 400) / 2) * scale;
    apply();
  }
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const area = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - area.left, event.clientY - area.top);
  }, {passive: false});
  svg.addEventListener("pointerdown", (event) => {
    held = [event.clientX - left, event.clientY - top, event.clientX, event.clientY];
    dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    if (Math.hypot(event.clientX - held[2], event.clientY - held[3]) > 4) dragged = true;
    if (!dragged) return;
    svg.classList.add("moving");
    left = event.clientX - held[0];
    top = event.clientY - held[1];
    apply();
  });
  window.addEventListener("pointerup", () => { held = null; svg.classList.remove("moving"); });
  svg.addEventListener("click", (event) => { if (!dragged && event.target === svg) dismiss(); });
  const on = (name, act) => document.getElementById(name).addEventListener("click", act);
  on("larger", () => zoom(1.3, ...center()));
  on("smaller", () => zoom(1 / 1.3, ...center()));
  on("fit", fit);
  const theme = data.own && document.getElementById("theme");
  if (theme) theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  window.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
    if (steps) { left += steps[0]; top += steps[1]; apply(); }
    else if (event.key === "+") zoom(1.3, ...center());
    else if (event.key === "-") zoom(1 / 1.3, ...center());
    else if (event.key === "0") fit();
    else if (event.key === "Escape") dismiss();
    else if (event.key === "/") search.focus();
    else return;
    event.preventDefault();
  });

  // ── searching ────────────────────────────────────────────────────────────────────────────────────────────────
  const names = data.boxes.flatMap((box, number) =>
    [[box.name, number, -1], ...box.columns.map((column, place) => [`${box.name}.${column[2]}`, number, place])]);
  let hits = [], at = 0;
  const go = ([, number, column]) => {
    found.hidden = true;
    search.setAttribute("aria-expanded", "false");
    choose(number, column);
    show(number);
  };
  const list = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (name) => words.every((word) => name.toLowerCase().includes(word));
    hits = words.length ? names.filter(([name]) => fits(name)) : [];
    hits.sort((one, other) => (one[2] >= 0) - (other[2] >= 0) || one[0].length - other[0].length);
    at = 0;
    found.replaceChildren();
    hits.slice(0, 50).forEach((hit, place) => {
      const item = put("li", hit[0], found, place === at ? "at" : "");
      item.setAttribute("role", "option");
      put("small", hit[2] < 0 ? data.boxes[hit[1]].kind : "column", item);
      item.addEventListener("click", () => go(hit));
    });
    if (words.length && !hits.length) put("li", "Nothing is called so.", found);
    if (hits.length > 50) put("li", `and ${hits.length - 50} more`, found);
    found.hidden = !words.length;
    search.setAttribute("aria-expanded", String(!found.hidden));
  };
  search.addEventListener("input", list);
  search.addEventListener("keydown", (event) => {
    const last = Math.min(hits.length, 50) - 1;
    if (event.key === "Enter" && hits[at]) go(hits[at]);
    else if (event.key === "Escape") { search.value = ""; list(); svg.focus(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      found.children[at]?.classList.remove("at");
      at = Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), Math.max(last, 0));
      found.children[at]?.classList.add("at");
      found.children[at]?.scrollIntoView({block: "nearest"});
    } else return;
    event.preventDefault();
  });

  // ── what lines and signs mean ──────────────────────────────────────────────────────────────────────────────────
  const shown = [["flow", "value"], ["flow indirect", "decides"]];
  if (flows.some((flow) => flow.vague)) shown.push(["flow vague", "not certain"]);
  for (const [type, text] of flows.length ? shown : []) {
    const sample = make("svg", {width: 34, height: 10, "aria-hidden": "true"}, legend);
    make("path", {class: type, d: "M1 5H33"}, sample);
    put("span", text, legend);
  }
  for (const state of Object.keys(signs)) {
    const found = data.boxes.some((box) => box.state === state || box.columns.some((column) => column[3] === state)) ||
      data.arrows.some((arrow) => arrow[4] === state) || flows.some((flow) => flow.state === state);
    if (found) put("span", signs[state] + state, legend, "state " + state);
  }

  window.addEventListener("resize", frame);
  begin();
  const [wanted, column] = decodeURIComponent(location.hash.slice(1)).split("#");
  const number = wanted ? data.boxes.findIndex((box) => box.name === wanted) : -1;
  if (number >= 0) {
    choose(number, column ? data.boxes[number].columns.findIndex((one) => one[2] === column) : -1);
    fit();
    if (scale < 0.5) show(number);
  }
})();
