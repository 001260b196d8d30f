// Searches functions, kernels, nodes, files and all texts at once. The key `/` opens the search.

/** @typedef {{kind: string, text: string, note: string, route: Route}} Hit */
const hitsMax = 60;

/** @param {string} query @returns {Hit[]} */
function search(query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  /** @type {Hit[]} */
  const hits = [];
  const seen = new Set();
  /** @param {Hit} hit */
  const add = (hit) => {
    const key = hit.kind + "\n" + hit.text + "\n" + hit.note;
    if (hits.length >= hitsMax || seen.has(key)) return;
    seen.add(key);
    hits.push(hit);
  };
  const { compilations, breaks } = currentProcess();
  compilations.forEach((compilation, index) => {
    if ((compilation.id + " " + compilation.title).toLowerCase().includes(wanted)) add({ kind: "compilation", text: compilation.id + "  " + compilation.title, note: compilation.status, route: { c: compilationKey(index) } });
  });
  for (const item of breaks) if (item.sentence.toLowerCase().includes(wanted)) add({ kind: "graph break", text: item.sentence, note: "", route: { view: "verdict", to: "breaks" } });
  compilations.forEach((compilation, index) => {
    for (const [key, pane] of panesOf(compilation))
      for (const [row, name] of pane.rows)
        if (name && name.toLowerCase().includes(wanted)) add({ kind: pane.stage === "kernel" ? "kernel" : "node", text: name, note: compilation.id + " " + titleOfPane(pane) + ":" + row, route: { c: compilationKey(index), pane: key, line: String(row) } });
  });
  data.files.forEach((file, number) => {
    if (file.isFramework) return;
    if (file.path.toLowerCase().includes(wanted)) add({ kind: "file", text: file.path, note: "", route: { view: "source", file: String(number) } });
    if (file.text >= 0) inRows(file.text, wanted, (row, text) => add({ kind: "source", text, note: file.name + ":" + row, route: { view: "source", file: String(number), line: String(row) } }));
  });
  compilations.forEach((compilation, index) => {
    for (const limit of compilation.limits) if (limit.condition.toLowerCase().includes(wanted)) add({ kind: "guard", text: limit.condition, note: compilation.id, route: { view: "guards", c: compilationKey(index) } });
    if (hits.length >= hitsMax) return;
    for (const [key, pane] of panesOf(compilation))
      inRows(pane.text, wanted, (row, text) => add({ kind: "text", text, note: compilation.id + " " + titleOfPane(pane) + ":" + row, route: { c: compilationKey(index), pane: key, line: String(row) } }));
  });
  return hits;
}

/** @type {Map<number, string>} */
const lowerTexts = new Map();
/** @param {number} text @param {string} wanted @param {(row: number, text: string) => void} visit */
function inRows(text, wanted, visit) {
  let lower = lowerTexts.get(text);
  if (lower === undefined) lowerTexts.set(text, (lower = data.texts[text].toLowerCase()));
  let row = 1;
  let counted = 0;
  let visited = 0;
  for (let at = lower.indexOf(wanted); at >= 0 && visited < 12; at = lower.indexOf(wanted, at + 1)) {
    for (; counted < at; counted += 1) if (lower.charCodeAt(counted) === 10) row += 1;
    visit(row, (rowsOfText(text)[row - 1] || "").trim());
    visited += 1;
    const end = lower.indexOf("\n", at);
    if (end < 0) break;
    at = end;
  }
}

/** @type {HTMLDialogElement | null} */
let searchDialog = null;

function openSearch() {
  if (searchDialog) return;
  const list = make("div.hits", { role: "listbox", tabindex: 0, "aria-label": "Hits" });
  const none = make("p.dim", { "aria-live": "polite" });
  let chosen = 0;
  /** @type {Hit[]} */
  let hits = [];
  const choose = (/** @type {number} */ index) => {
    chosen = Math.max(0, Math.min(hits.length - 1, index));
    [...list.children].forEach((child, position) => child.setAttribute("aria-selected", String(position === chosen)));
    const element = list.children[chosen];
    if (element) element.scrollIntoView({ block: "nearest" });
  };
  const open = (/** @type {number} */ index) => {
    const hit = hits[index];
    if (!hit) return;
    closeSearch();
    go(withProcess(hit.route));
  };
  const input = /** @type {HTMLInputElement} */ (make("input", { type: "search", placeholder: "Search kernels, nodes, functions, source, guards, all texts", "aria-label": "Search" }));
  input.addEventListener("input", () => {
    hits = search(input.value);
    replaceContent(list, ...hits.map((hit, index) => make("div.hit", { role: "option", onclick: () => open(index) }, make("span.badge", null, hit.kind), make("code", null, hit.text.slice(0, 200)), make("small", null, hit.note))));
    replaceContent(none, !hits.length && input.value.trim() ? "No entry contains this text." : "");
    choose(0);
  });
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog.search", { "aria-label": "Search", onclose: closeSearch, onclick: (/** @type {Event} */ event) => event.target === dialog && closeSearch() }, input, list, none));
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      open(chosen);
    }
  });
  searchDialog = dialog;
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}

function closeSearch() {
  const dialog = searchDialog;
  searchDialog = null;
  if (dialog) dialog.remove();
}
