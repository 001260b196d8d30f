// Shows panes with stages of one compilation side by side. Pointing at a row highlights, in all panes, the rows that
// come from the same line of source. A click pins the line, and the other panes scroll to it. While no line is pinned,
// the panes scroll together.

const paneLimit = 4;
const widePage = 1500;

/** @param {Compilation} compilation */
function defaultPanes(compilation) {
  const keys = [...panesOf(compilation).keys()];
  const wanted = ["source"];
  for (const key of ["captured", "fw", "post", "code", "guards"]) if (keys.includes(key) && wanted.length < 2) wanted.push(key);
  if (keys.includes("kernel")) wanted.push("kernel");
  else if (keys.includes("fw") && !wanted.includes("fw")) wanted.push("fw");
  if (wanted.length < 3) for (const key of keys) if (!wanted.includes(key) && wanted.length < 3) wanted.push(key);
  if (innerWidth >= widePage && keys.includes("kernel-bw")) wanted.push("kernel-bw");
  return wanted;
}

/**
 * The explorer that is on the page; null if the page shows another view.
 * @type {Explorer | null}
 */
let explorer = null;

/** True if the other panes follow the pane that the user scrolls. */
let scrollsTogether = true;

class Explorer {
  /** @param {HTMLElement} root @param {number} index the index of the compilation */
  constructor(root, index) {
    this.index = index;
    this.compilation = currentProcess().compilations[index];
    this.available = panesOf(this.compilation);
    this.trails = trailsOf(this.compilation);
    /** The lines of source that a row of any pane comes from. */
    this.ownLines = new Set([...this.available.values()].flatMap((pane) => pane.rows.flatMap((row) => row.slice(4))));
    this.route = readRoute();
    /** @type {string[]} */
    this.keys = (this.route.panes || "").split(",").filter((key) => key === "source" || this.available.has(key)).slice(0, paneLimit);
    if (!this.keys.length) this.keys = defaultPanes(this.compilation);
    const focus = this.route.pane;
    if (focus && !this.keys.includes(focus) && this.available.has(focus)) {
      // The pane that the address names replaces a default pane of the same kind, or else the last pane.
      const kernels = focus.startsWith("kernel") ? this.keys.findIndex((key) => key.startsWith("kernel")) : -1;
      this.keys[kernels >= 0 ? kernels : this.keys.length - 1] = focus;
    }
    /** @type {Set<number>} */
    this.hovered = new Set();
    /** @type {Set<number>} */
    this.pinned = new Set();
    /** @type {CodePane[]} */
    this.panes = [];
    /** The number of the file that the source pane shows; -1 if there is no file. */
    this.file = this.startFile();
    this.trail = make("div.trail", { "aria-live": "polite" });
    this.grid = make("div.pane-grid");
    this.connections = new Connections(this.grid);
    /**
     * The pane that the user scrolls, which is the pane that the pointer or the focus entered last; null at first.
     * @type {CodePane | null}
     */
    this.activePane = null;
    root.append(make("div.explorer", null, this.header(), this.trail, this.grid));
    this.layPanes();
    this.showTrail();
    this.showFunction();
    this.openPlace();
  }

  /** Scrolls the source pane to the function that was compiled, which may be far down in its file. */
  showFunction() {
    const { line } = this.compilation;
    if (line < 0 || fileNumberOfLine(line) !== this.file) return;
    for (const pane of this.panes) if (pane.source && pane.source.isSource) pane.list.reveal(pane.order.indexOf(rowOfLine(line)));
  }

  startFile() {
    const asked = Number(this.route.file);
    if (this.route.file !== undefined && data.files[asked]) return asked;
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const node of this.compilation.nodes)
      if (node[3] >= 0 && !fileOfLine(node[3]).isFramework) counts.set(fileNumberOfLine(node[3]), (counts.get(fileNumberOfLine(node[3])) || 0) + 1);
    const own = this.compilation.line;
    if (own >= 0 && !fileOfLine(own).isFramework && (!counts.size || counts.has(fileNumberOfLine(own)))) return fileNumberOfLine(own);
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    return most ? most[0] : own >= 0 ? fileNumberOfLine(own) : -1;
  }

  header() {
    const { compilations } = currentProcess();
    const select = make(
      "select",
      { "aria-label": "Compilation", onchange: (/** @type {Event} */ event) => go(withProcess({ c: /** @type {HTMLSelectElement} */ (event.target).value })) },
      ...compilations.map((compilation, index) => make("option", { value: compilationKey(index), selected: index === this.index }, compilation.id + "  " + compilation.title)),
    );
    const { compilation } = this;
    const program = reproductionOf(compilation);
    const facts = [
      secondsOf(compilation) ? secondsText(secondsOf(compilation)) : "",
      compilation.breaks.length ? counted(compilation.breaks.length, "graph break") : "",
      compilation.calls.length ? counted(compilation.calls.length, "kernel call") : "",
    ].filter(Boolean);
    const together = make("button", { title: "While no line is pinned, the other panes follow the pane that you scroll", "aria-pressed": String(scrollsTogether), onclick: () => { scrollsTogether = !scrollsTogether; together.setAttribute("aria-pressed", String(scrollsTogether)); } }, "Scroll together");
    const width = make("div.pane-count", { role: "group", "aria-label": "Number of panes" }, ...[2, 3, 4].map((count) => make("button", { title: count + " panes", "aria-pressed": String(count === this.keys.length), onclick: () => this.setCount(count) }, count)));
    return make(
      "header.explorer-head",
      null,
      make("button.step", { title: "previous compilation ([)", onclick: () => this.step(-1) }, "\u2039"),
      select,
      make("button.step", { title: "next compilation (])", onclick: () => this.step(1) }, "\u203a"),
      make("span.dim", null, facts.join(" \u00b7 ")),
      compilation.deciding ? make("span.why", { title: compilation.deciding }, "because ", compilation.deciding) : make("span.why"),
      compilation.differences.length ? link({ view: "difference", c: compilationKey(this.index), d: String(firstChange(compilation)) }, "Compare") : null,
      program ? make("button", { title: "Shows the graph as a program that runs on its own", onclick: () => openReproduction(program) }, "Copy as program") : null,
      together,
      width,
    );
  }

  /** @param {number} by */
  step(by) {
    const { compilations } = currentProcess();
    const index = Math.min(compilations.length - 1, Math.max(0, this.index + by));
    go(withProcess({ c: compilationKey(index), ...(this.route.panes ? { panes: this.route.panes } : {}) }));
  }

  /** @param {number} count */
  setCount(count) {
    const keys = [...this.available.keys()];
    while (this.keys.length > count) this.keys.pop();
    for (const key of ["kernel-bw", "bw", "fw", "post", ...keys]) if (this.keys.length < count && !this.keys.includes(key) && keys.includes(key)) this.keys.push(key);
    this.save();
    for (const button of document.querySelectorAll(".pane-count button")) button.setAttribute("aria-pressed", String(button.textContent === String(this.keys.length)));
    this.layPanes();
  }

  save() {
    const route = readRoute();
    this.route = withProcess({ c: compilationKey(this.index), panes: this.keys.join(","), pane: route.pane || "", line: route.line || "" });
    keepRoute(this.route);
  }

  layPanes() {
    this.panes = [];
    this.grid.textContent = "";
    this.grid.style.gridTemplateColumns = "repeat(" + this.keys.length + ", minmax(0, 1fr))";
    this.keys.forEach((key, position) => {
      const pane = new CodePane({ onHover: (from, row) => this.hover(from, row), onPin: (from, row) => this.pin(from, row) });
      this.panes.push(pane);
      const source = this.sourceOf(key);
      const select = make(
        "select",
        { "aria-label": "Stage of pane " + (position + 1), onchange: (/** @type {Event} */ event) => this.choose(position, /** @type {HTMLSelectElement} */ (event.target).value) },
        make("option", { value: "source", selected: key === "source" }, "Source"),
        ...[...this.available].map(([other, raw]) => make("option", { value: other, selected: other === key }, titleOfPane(raw))),
      );
      this.grid.append(make("section.pane", { "data-pane": key, "aria-label": source.title }, make("header.pane-head", { title: source.about }, select, make("span.dim", null, source.isSource ? source.title : source.name)), pane.element));
      pane.show(source);
      const activate = () => (this.activePane = pane);
      pane.element.addEventListener("pointerenter", activate);
      pane.element.addEventListener("focusin", activate);
      pane.list.element.addEventListener("scroll", () => this.scrolled(pane), { passive: true });
    });
    this.connections.connect(this.panes);
    this.light();
  }

  /**
   * Scrolls the other panes to the line of source that is at a third of the height of the scrolled pane.
   * @param {CodePane} pane
   */
  scrolled(pane) {
    if (!scrollsTogether || pane !== this.activePane || this.pinned.size) return;
    const line = pane.lineInSight();
    if (line === undefined) return;
    for (const other of this.panes) if (other !== pane) other.follow(new Set([line]));
  }

  /** @param {string} key @returns {PaneSource} */
  sourceOf(key) {
    const raw = this.available.get(key);
    if (raw) {
      const source = paneSource(raw, key);
      if (raw.stage === "forward" || raw.stage === "backward") source.note = this.savedNotes(source, raw.stage);
      return source;
    }
    if (this.file >= 0) return fileSource(this.file, (line) => this.ownLines.has(line));
    return { key: "source", title: "Source", about: "The record names no file", name: "", rows: [], spans: [], links: new Map(), isSource: true };
  }

  /**
   * Returns the function that creates the notes of the rows whose values the forward saves for the backward. Each note
   * is a link to the row of the value in the other graph, if the other graph has such a row.
   * @param {PaneSource} source @param {"forward" | "backward"} stage
   * @returns {(row: number) => Child}
   */
  savedNotes(source, stage) {
    const isForward = stage === "forward";
    const saved = new Map(this.compilation.saved.map((item) => [item.name, item]));
    const target = isForward ? "bw" : "fw";
    const other = this.available.get(target);
    return (row) => {
      const link = source.links.get(row);
      const item = link && saved.get(link.name);
      if (!item) return null;
      const targetRow = other && other.rows.find((candidate) => candidate[1] === item.name);
      const text = isForward ? "saved " + bytesText(item.bytes) + " \u2192" : "\u2190 " + bytesText(item.bytes);
      const title = isForward ? "The backward reads this value. Click to open the row in the backward graph." : "The forward saves this value. Click to open the row that computes it.";
      if (!targetRow) return make("span.saved", { title: "The forward saves this value for the backward" }, text);
      const open = (/** @type {Event} */ event) => {
        event.preventDefault();
        event.stopPropagation();
        this.openRow(target, targetRow[0]);
      };
      return make("a.saved", { href: routeText(withProcess({ c: compilationKey(this.index), pane: target, line: String(targetRow[0]) })), title, tabindex: -1, onclick: open }, text);
    };
  }

  /**
   * Shows a row of a pane. If the pane is not open, it is opened beside the others, or replaces the last pane.
   * @param {string} key @param {number} row
   */
  openRow(key, row) {
    if (!this.keys.includes(key)) {
      if (this.keys.length < paneLimit) this.keys.push(key);
      else this.keys[this.keys.length - 1] = key;
    }
    go(withProcess({ c: compilationKey(this.index), panes: this.keys.join(","), pane: key, line: String(row) }));
  }

  /** @param {number} position @param {string} key */
  choose(position, key) {
    this.keys[position] = key;
    this.save();
    this.layPanes();
    if (this.pinned.size) for (const pane of this.panes) pane.follow(this.pinned);
  }

  /** @param {CodePane} from @param {number} row */
  hover(from, row) {
    this.hovered = new Set(row < 0 ? [] : from.linesOf(row));
    const link = row < 0 ? undefined : from.linkOf(row);
    const isOfSource = from.source !== null && from.source.isSource;
    this.withoutLine = link ? link.why && "No line of source: " + link.why : row >= 0 && isOfSource ? "Nothing in this compilation comes from this line." : "";
    this.light();
    this.showTrail();
  }

  /** @param {CodePane} from @param {number} row */
  pin(from, row) {
    const lines = new Set(from.linesOf(row));
    const isSame = lines.size === this.pinned.size && [...lines].every((line) => this.pinned.has(line));
    this.pinned = isSame ? new Set() : lines;
    this.light();
    this.showTrail();
    const key = from.source ? from.source.key : "";
    keepRoute(withProcess({ c: compilationKey(this.index), panes: this.route.panes || "", pane: isSame ? "" : key, line: isSame ? "" : String(row), file: key === "source" && !isSame ? String(this.file) : "" }));
    if (isSame) return;
    this.showFileOf(lines);
    for (const pane of this.panes) if (pane !== from) pane.follow(this.pinned);
  }

  unpin() {
    this.pinned = new Set();
    this.hovered = new Set();
    this.light();
    this.showTrail();
    keepRoute(withProcess({ c: compilationKey(this.index), panes: this.route.panes || "" }));
  }

  /**
   * Shows the file of the lines in the source pane.
   * @param {Set<number>} lines
   */
  showFileOf(lines) {
    const [first] = lines;
    if (first === undefined || [...lines].some((line) => fileNumberOfLine(line) === this.file)) return;
    this.file = fileNumberOfLine(first);
    this.keys.forEach((key, position) => {
      if (key !== "source") return;
      this.panes[position].show(this.sourceOf("source"));
      const name = this.grid.children[position].querySelector(".pane-head span");
      if (name) replaceContent(name, data.files[this.file].name);
    });
    this.light();
  }

  light() {
    for (const pane of this.panes) pane.light(this.hovered, this.pinned);
    this.connections.show(this.hovered.size ? this.hovered : this.pinned);
  }

  /**
   * Shows above the panes which nodes and kernels come from the highlighted lines, separately for forward and backward.
   */
  showTrail() {
    const lines = this.hovered.size ? this.hovered : this.pinned;
    if (!lines.size) {
      replaceContent(this.trail, make("span.dim", null, this.withoutLine || (this.available.size ? "" : "The record has no graphs, guards or kernels of this compilation. ") + "Point at a line to see which nodes and kernels come from it. Click the line to pin it; Esc unpins it."));
      return;
    }
    /** @type {Map<string, Set<string>>} */
    const names = new Map();
    for (const line of lines)
      for (const [key, ofLine] of this.trails.get(line) || []) {
        const known = names.get(key);
        if (!known) names.set(key, new Set(ofLine));
        else for (const name of ofLine) known.add(name);
      }
    const [first] = lines;
    /** @param {string} label @param {string} key @param {string} kind */
    const step = (label, key, kind) => {
      const all = [...(names.get(key) || [])];
      if (!all.length) return null;
      const shown = all.slice(0, 4).join(", ") + (all.length > 4 ? " and " + (all.length - 4) + " more" : "");
      return make("span.trail-step" + kind, { title: all.slice(0, 60).join(", ") }, make("small", null, label), " ", shown);
    };
    replaceContent(
      this.trail,
      make("p", null, make("i.bar.hue-" + hueOf(first)), make("b", null, placeOfLine(first)), lines.size > 1 ? " and " + counted(lines.size - 1, "more line") : "", "  ", make("code", null, lines.size === 1 ? textOfLine(first) : "")),
      make("p", null, step("captured", "captured", ""), step("forward", "fw", ".forward"), step("kernels", "kernel", ".forward"), this.savedStep(lines), step("backward", "bw", ".backward"), step("kernels", "kernel-bw", ".backward")),
    );
  }

  /**
   * Returns the size of the values that the lines save for the backward; null if they save none.
   * @param {Set<number>} lines
   */
  savedStep(lines) {
    const saved = this.compilation.saved.filter((item) => !item.isInput && lines.has(item.line));
    if (!saved.length) return null;
    const bytes = saved.some((item) => item.bytes === null) ? null : saved.reduce((sum, item) => sum + (item.bytes || 0), 0);
    return make("span.trail-step.saves", { title: saved.map((item) => item.name + " " + item.shape).join(", ") }, make("small", null, "saves"), " ", bytesText(bytes), " in ", counted(saved.length, "value"));
  }

  /**
   * Shows the row that the address names. The last row stands for a row behind it, which the address of another run may
   * name.
   */
  openPlace() {
    const { pane: key, line } = this.route;
    const position = key ? this.keys.indexOf(key) : -1;
    if (position < 0) return;
    const pane = this.panes[position];
    const row = Math.min(Math.floor(Number(line)), pane.source ? pane.source.rows.length : 0);
    if (!(row > 0)) return;
    pane.reveal(row);
    this.pinned = new Set(pane.linesOf(row));
    this.showFileOf(this.pinned);
    this.light();
    this.showTrail();
    for (const other of this.panes) if (other !== pane && this.pinned.size) other.follow(this.pinned);
  }
}

/** @param {HTMLElement} root */
function showExplorer(root) {
  const { compilations } = currentProcess();
  if (!compilations.length) {
    root.append(emptyState("Nothing was compiled.", "There are no graphs and no kernels to explore."));
    return;
  }
  const key = readRoute().c;
  let index = key ? compilationOfKey(key) : -1;
  if (key && index < 0) {
    root.append(emptyState("There is no compilation " + key + ".", "It may belong to another process of the report."));
    return;
  }
  if (index < 0) index = Math.max(0, compilations.findIndex((compilation) => compilation.panes.length));
  explorer = new Explorer(root, index);
}
