// Shows lists of rows, of which only the rows in sight have elements, and panes, whose rows are linked to lines of
// source. Both are in one file because a pane is a list of rows that the user can mark and unfold.

const rowHeight = 20;
const overscan = 12;
/** The colours of the classes `hue-0` to `hue-11` in viewer.css. */
const hues = ["#009f81", "#ff6e3a", "#8400cd", "#008df9", "#e20134", "#00c2f9", "#9f0162", "#ffc33b", "#00fccf", "#ff5aaf", "#a40122", "#ffb2fd"];
const hueCount = hues.length;
const marksWidth = 8;
const stateLit = 1;
const statePinned = 2;
/**
 * The number of characters of a row that are shown at first. The call of a graph may have tens of thousands of
 * characters, and each word becomes an element.
 */
const charactersMax = 2000;

/** A scrolling list of any number of rows. Only the rows in sight and a few around them have elements. */
class VirtualRows {
  /** @param {string} label the name of the list for screen readers */
  constructor(label) {
    this.content = make("div.rows-content");
    this.spacer = make("div.rows-spacer", null, this.content);
    this.element = make("div.rows", { tabindex: 0, role: "listbox", "aria-label": label }, this.spacer);
    this.count = 0;
    /** @type {(index: number) => HTMLElement} */
    this.makeRow = () => make("div");
    /** @type {Map<number, HTMLElement>} */
    this.shown = new Map();
    this.element.addEventListener("scroll", () => this.render(), { passive: true });
    new ResizeObserver(() => this.render()).observe(this.element);
  }

  /**
   * @param {number} count @param {number} columns the number of characters of the longest row
   * @param {(index: number) => HTMLElement} makeRow
   */
  reset(count, columns, makeRow) {
    this.count = count;
    this.makeRow = makeRow;
    this.spacer.style.height = count * rowHeight + "px";
    this.spacer.style.minWidth = "calc(" + columns + "ch + 9rem)";
    this.shown.clear();
    this.content.textContent = "";
    this.render();
  }

  render() {
    const height = printing ? this.count * rowHeight : this.element.clientHeight || 600;
    const top = printing ? 0 : this.element.scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
    const last = Math.min(this.count, Math.ceil((top + height) / rowHeight) + overscan);
    for (const [index, element] of this.shown) {
      if (index >= first && index < last) continue;
      element.remove();
      this.shown.delete(index);
    }
    for (let index = first; index < last; index += 1) {
      if (this.shown.has(index)) continue;
      const element = this.makeRow(index);
      element.style.top = index * rowHeight + "px";
      element.dataset.index = String(index);
      this.shown.set(index, element);
      this.content.append(element);
    }
  }

  /**
   * Scrolls the row to a third of the height from the top, unless the row is already in sight.
   * @param {number} index
   */
  reveal(index) {
    const top = index * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top >= scrollTop + rowHeight && top + 2 * rowHeight <= scrollTop + clientHeight) return;
    this.element.scrollTop = Math.max(0, top - clientHeight / 3);
    this.render();
  }
}

/** True while the page is printed. All rows have elements during this time, because a printed page does not scroll. */
let printing = false;

/** Matches rows that the reader of a kernel or a graph need not see, because they are in every file. */
const boilerplate =
  /^(from |import |aten = |inductor_ops = |_quantized = |assert_\w+ = |empty_strided\w* = |reinterpret_tensor = |alloc_from_pool = |async_compile(_\w+)? = |\s*$|\s+l_\w+ = L_\w+$)/;
const boilerplateMin = 3;

/** @typedef {{from: number, to: number}} Fold the rows from `from` to before `to`, counted from 0, shown as one row */

/** @param {string[]} rows @returns {Fold[]} */
function foldsOf(rows) {
  /** @type {Fold[]} */
  const folds = [];
  for (let from = 0; from < rows.length; from += 1) {
    let to = from;
    while (to < rows.length && boilerplate.test(rows[to])) to += 1;
    while (to > from && rows[to - 1].trim() === "") to -= 1;
    const imports = rows.slice(from, to).filter((row) => row.trim()).length;
    if (imports >= boilerplateMin) folds.push({ from, to });
    from = Math.max(from, to);
  }
  return folds;
}

/**
 * @typedef {object} PaneSource the rows of a pane and their links to lines of source
 * @property {string} key @property {string} title @property {string} about @property {string} name
 * @property {string[]} rows @property {string[]} spans the coloured spans of each row; empty if the text is unknown
 * @property {Map<number, {name: string, why: string, lines: number[], last: number}>} links the links by row, from 1
 * @property {boolean} isSource
 * @property {(row: number) => Child} [gutter] returns the marks at the left of a row
 * @property {(row: number) => Child} [note] returns the note before the text of a row, or null
 * @property {Fold[]} [folds] the folds to use instead of the folds of imports and set-up
 */

/** @param {RawPane} pane @param {string} key @returns {PaneSource} */
function paneSource(pane, key) {
  const links = new Map();
  for (const [row, name, why, last, ...lines] of pane.rows)
    links.set(row, { name, why: why < 0 ? "" : data.texts[why], lines, last });
  const [, about] = stageInfo[/** @type {keyof typeof stageInfo} */ (pane.stage)] || ["", ""];
  return { key, title: titleOfPane(pane), about, name: pane.name, rows: rowsOfText(pane.text), spans: spansOfText(pane.text), links, isSource: false };
}

/**
 * Returns the runs of rows that the record does not mention, in a file whose text is unknown.
 * @param {number} file @param {string[]} rows @returns {Fold[]}
 */
function unknownRows(file, rows) {
  /** @type {Fold[]} */
  const folds = [];
  for (let from = 0; from < rows.length; from += 1) {
    let to = from;
    while (to < rows.length && !rows[to] && lineAt(file, to + 1) < 0) to += 1;
    if (to - from >= boilerplateMin) folds.push({ from, to });
    from = Math.max(from, to);
  }
  return folds;
}

/**
 * @param {number} file @param {(line: number) => boolean} [isShown] true if the row of a line gets a mark
 * @returns {PaneSource}
 */
function fileSource(file, isShown = () => true) {
  const { path, text, quoted, name, why } = data.files[file];
  const links = new Map();
  /** @type {string[]} */
  let rows = [];
  if (text >= 0) {
    rows = rowsOfText(text);
  } else {
    for (const row of Object.keys(quoted)) rows[Number(row) - 1] = quoted[row];
    for (let index = 0; index < rows.length; index += 1) rows[index] = rows[index] ?? "";
  }
  const folds = text >= 0 ? [] : unknownRows(file, rows);
  for (let row = 1; row <= rows.length; row += 1) {
    const line = lineAt(file, row);
    if (line >= 0 && isShown(line)) links.set(row, { name: "", why: "", lines: [line], last: row });
  }
  const about = text >= 0 ? path : path + ": only the lines that the record quotes are known, because " + why;
  return { key: "source", title: name, about, name: path, rows, spans: text >= 0 ? spansOfText(text) : [], links, isSource: true, folds };
}

/** @param {number} line */
const hueOf = (line) => line % hueCount;

/**
 * Returns an element with a coloured bar and the number of the line of source that a row comes from. The element has no
 * number if the row itself is a row of source, and is empty if `lines` is empty.
 * @param {number[]} lines
 * @param {boolean} isSource
 */
function originMark(lines, isSource) {
  if (!lines.length) return make("span.origin");
  const rest = lines.length > 1 ? "+" + (lines.length - 1) : "";
  const title = lines.slice(0, 8).map(placeOfLine).join(", ") + (lines.length > 8 ? ", ..." : "");
  return make("span.origin", { title: isSource ? null : title }, make("i.bar.hue-" + hueOf(lines[0])), isSource ? "" : rowOfLine(lines[0]) + rest);
}

/** @param {string} row */
const indentOf = (row) => row.length - row.trimStart().length;
/** @param {string} row */
const narrowedBy = (row) => Math.ceil(indentOf(row) / 2);

/**
 * Returns a row of a text that PyTorch generated with half of its indentation and without the folders of files, because
 * panes are narrow.
 * @param {string} row
 */
function narrowed(row) {
  return row.slice(narrowedBy(row)).replace(/^( *# )File: (?:.*[/\\])?([^/\\]+:\d+) in [^,]*, code: /, "$1$2 ");
}

/** A pane of rows. It reports which row the user points at or clicks, and `light` sets the highlighted rows. */
class CodePane {
  /** @param {{onHover: (pane: CodePane, row: number) => void, onPin: (pane: CodePane, row: number) => void}} listeners */
  constructor(listeners) {
    this.listeners = listeners;
    this.list = new VirtualRows("Text of a stage");
    this.marks = /** @type {HTMLCanvasElement} */ (make("canvas.marks", { "aria-hidden": "true" }));
    /**
     * The positions in `order` of the rows that come from each line of source: the first row of each definition.
     * @type {Map<number, number[]>}
     */
    this.placesOf = new Map();
    this.element = make("div.code-pane", null, this.list.element, this.marks);
    /** @type {PaneSource | null} */
    this.source = null;
    /**
     * The rows, counted from 1, and the folds, in the order in which they are shown.
     * @type {(number | Fold)[]}
     */
    this.order = [];
    /**
     * The row at which the definition that contains a row begins, by row; rows are counted from 1.
     * @type {Map<number, number>}
     */
    this.ownerOf = new Map();
    /** @type {Set<number>} */
    this.lit = new Set();
    /** @type {Set<number>} */
    this.pinned = new Set();
    /**
     * The state of the mark of each row that has an element. A row that is not in the map has no mark.
     * @type {WeakMap<HTMLElement, number>}
     */
    this.marked = new WeakMap();
    /**
     * The long rows of which the user has asked to see all characters.
     * @type {Set<number>}
     */
    this.whole = new Set();
    /** @type {Fold[]} */
    this.folds = [];
    this.cursor = -1;
    const over = (/** @type {Event} */ event) => {
      const row = this.rowOfEvent(event);
      if (row !== this.hovered) {
        this.hovered = row;
        this.listeners.onHover(this, row);
      }
    };
    this.hovered = -1;
    this.list.element.addEventListener("mouseover", over);
    this.list.element.addEventListener("mouseleave", () => {
      this.hovered = -1;
      this.listeners.onHover(this, -1);
    });
    this.list.element.addEventListener("click", (event) => {
      const element = /** @type {HTMLElement} */ (event.target).closest("[data-index]");
      if (!element) return;
      const entry = this.order[Number(/** @type {HTMLElement} */ (element).dataset.index)];
      if (typeof entry === "object") return this.unfold(entry);
      this.setCursor(Number(/** @type {HTMLElement} */ (element).dataset.index));
      this.listeners.onPin(this, entry);
    });
    this.list.element.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
  }

  /** @param {Event} event @returns {number} the row, counted from 1; -1 if there is no row */
  rowOfEvent(event) {
    const element = /** @type {HTMLElement} */ (event.target).closest("[data-index]");
    const entry = element && this.order[Number(/** @type {HTMLElement} */ (element).dataset.index)];
    return typeof entry === "number" ? entry : -1;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.floor(this.list.element.clientHeight / rowHeight) - 1;
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.order.length, End: this.order.length };
    if (event.key in steps) {
      event.preventDefault();
      this.setCursor(Math.min(this.order.length - 1, Math.max(0, this.cursor + steps[event.key])));
      this.list.reveal(this.cursor);
      const entry = this.order[this.cursor];
      this.listeners.onHover(this, typeof entry === "number" ? entry : -1);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const entry = this.order[this.cursor];
      if (typeof entry === "object") this.unfold(entry);
      else if (entry) this.listeners.onPin(this, entry);
    }
  }

  /** @param {number} index */
  setCursor(index) {
    const before = this.list.shown.get(this.cursor);
    if (before) before.classList.remove("cursor");
    this.cursor = index;
    const after = this.list.shown.get(index);
    if (after) after.classList.add("cursor");
  }

  /** @param {PaneSource} source */
  show(source) {
    this.source = source;
    this.folds = source.folds || foldsOf(source.rows);
    this.ownerOf.clear();
    for (const [row, link] of source.links) for (let at = row; at <= link.last; at += 1) this.ownerOf.set(at, row);
    this.whole.clear();
    this.cursor = -1;
    this.hovered = -1;
    this.list.element.setAttribute("aria-label", source.title);
    this.list.element.style.setProperty("--digits", String(String(source.rows.length).length));
    this.list.element.scrollTop = 0;
    this.lay();
  }

  lay() {
    const source = /** @type {PaneSource} */ (this.source);
    this.order = [];
    let fold = 0;
    const { folds } = this;
    for (let index = 0; index < source.rows.length; index += 1) {
      if (fold < folds.length && folds[fold].from === index) {
        this.order.push(folds[fold]);
        index = folds[fold].to - 1;
        fold += 1;
      } else {
        this.order.push(index + 1);
      }
    }
    this.placesOf.clear();
    this.order.forEach((entry, index) => {
      const link = typeof entry === "number" ? source.links.get(entry) : undefined;
      for (const line of link ? link.lines : []) {
        const places = this.placesOf.get(line);
        if (places) places.push(index);
        else this.placesOf.set(line, [index]);
      }
    });
    let columns = 0;
    for (const row of source.rows) if (row.length > columns) columns = row.length;
    this.list.reset(this.order.length, Math.min(columns, charactersMax), (index) => this.makeRow(index));
    this.drawMarks();
  }

  /** @param {Event} event @param {number} row */
  showWhole(event, row) {
    event.stopPropagation();
    this.whole.add(row);
    const { scrollTop } = this.list.element;
    this.lay();
    this.list.element.scrollTop = scrollTop;
  }

  /** @param {Fold} fold */
  unfold(fold) {
    this.folds = this.folds.filter((kept) => kept !== fold);
    this.lay();
  }

  /**
   * Returns the lines of source that a row comes from.
   * @param {number} row
   * @returns {number[]}
   */
  linesOf(row) {
    const link = this.linkOf(row);
    return link ? link.lines : [];
  }
  /** @param {number} row */
  linkOf(row) {
    const owner = this.ownerOf.get(row);
    return owner === undefined ? undefined : /** @type {PaneSource} */ (this.source).links.get(owner);
  }

  /** @param {number} row @param {Set<number>} lines */
  touches(row, lines) {
    if (!lines.size) return false;
    for (const line of this.linesOf(row)) if (lines.has(line)) return true;
    return false;
  }

  /** @param {number} index @returns {HTMLElement} */
  makeRow(index) {
    const entry = this.order[index];
    const source = /** @type {PaneSource} */ (this.source);
    if (typeof entry === "object")
      return make("button.row.fold", { tabindex: -1, role: "option" }, "\u25b8 " + (entry.to - entry.from) + (source.isSource ? " lines that the record does not quote" : " rows of imports and set-up"));
    const link = this.linkOf(entry);
    const lines = link ? link.lines : [];
    const isFirst = this.ownerOf.get(entry) === entry;
    const note = source.note ? source.note(entry) : null;
    const row = source.rows[entry - 1] || "";
    // A note replaces the indentation.
    const cut = source.isSource ? 0 : note ? indentOf(row) : narrowedBy(row);
    const whole = source.isSource || note ? row.slice(cut) : narrowed(row);
    const isCut = whole.length > charactersMax && !this.whole.has(entry);
    const element = make(
      "div.row",
      { role: "option", "aria-selected": "false", title: isFirst && link && !lines.length && link.why ? "No line of source: " + link.why : null },
      make("span.number", null, entry),
      source.gutter ? make("span.gutter", null, source.gutter(entry)) : null,
      isFirst || !lines.length ? originMark(isFirst ? lines : [], source.isSource) : make("span.origin", null, make("i.bar.hue-" + hueOf(lines[0]))),
      note,
      make("code", null, ...coloured(isCut ? whole.slice(0, charactersMax) : whole, source.spans[entry - 1], cut)),
      isCut ? make("button.rest", { tabindex: -1, onclick: (/** @type {Event} */ event) => this.showWhole(event, entry) }, counted(whole.length - charactersMax, "character") + " more") : null,
    );
    if (lines.length) element.classList.add("tint-" + hueOf(lines[0]));
    if (isFirst && link && !lines.length && link.why) element.classList.add("without-line");
    if (index === this.cursor) element.classList.add("cursor");
    this.mark(element, entry);
    return element;
  }

  /** @param {HTMLElement} element @param {number} row */
  mark(element, row) {
    const isLit = this.touches(row, this.lit);
    const isPinned = this.touches(row, this.pinned);
    const state = (isLit ? stateLit : 0) + (isPinned ? statePinned : 0);
    const before = this.marked.get(element) || 0;
    if (state === before) return;  // Setting a class again would make the browser match the styles of the row again.
    this.marked.set(element, state);
    element.classList.toggle("lit", isLit);
    element.classList.toggle("pinned", isPinned);
    if (isPinned !== before >= statePinned) element.setAttribute("aria-selected", String(isPinned));
  }

  /** @param {Set<number>} lit @param {Set<number>} pinned */
  light(lit, pinned) {
    if (!lit.size && !this.lit.size && pinned === this.pinned) return;
    this.lit = lit;
    this.pinned = pinned;
    for (const [index, element] of this.list.shown) {
      const entry = this.order[index];
      if (typeof entry === "number") this.mark(element, entry);
    }
    this.drawMarks();
  }

  /**
   * Draws marks beside the scroll bar that show where the highlighted rows are in the whole text. There may be
   * thousands of marks, so all of them are on one canvas.
   */
  drawMarks() {
    const { clientWidth: width, clientHeight: height } = this.list.element;
    const context = this.marks.getContext("2d");
    if (!context || !width) return;
    if (this.marks.height !== height) {
      this.marks.width = marksWidth;
      this.marks.height = height;
    } else {
      context.clearRect(0, 0, marksWidth, height);
    }
    for (const line of this.lit.size ? this.lit : this.pinned) {
      context.fillStyle = hues[hueOf(line)];
      let drawn = -1;  // Thousands of rows of one line can lie within a few hundred pixels.
      for (const index of this.placesOf.get(line) || []) {
        const top = Math.floor((height * index) / this.order.length);
        if (top !== drawn) context.fillRect(0, top, marksWidth, 3);
        drawn = top;
      }
    }
  }

  /**
   * Scrolls to the first row that comes from one of the lines.
   * @param {Set<number>} lines
   */
  follow(lines) {
    const places = [...lines].flatMap((line) => this.placesOf.get(line) || []);
    if (places.length) this.list.reveal(Math.min(...places));
  }

  /**
   * Returns the line of source of the row in sight that is nearest to a third of the height from the top; undefined if
   * no row in sight comes from a line of source.
   */
  lineInSight() {
    const { scrollTop, clientHeight } = this.list.element;
    const first = Math.floor(scrollTop / rowHeight);
    const last = Math.min(this.order.length, Math.ceil((scrollTop + clientHeight) / rowHeight));
    const middle = first + Math.floor(clientHeight / rowHeight / 3);
    for (let distance = 0; distance < last - first; distance += 1)
      for (const index of [middle - distance, middle + distance]) {
        const entry = index >= first && index < last ? this.order[index] : undefined;
        const [line] = typeof entry === "number" ? this.linesOf(entry) : [];
        if (line !== undefined) return line;
      }
    return undefined;
  }

  /** @param {number} asked a row; the last row is shown if `asked` is behind it, as in the address of another run */
  reveal(asked) {
    const row = Math.min(asked, this.source ? this.source.rows.length : 0);
    let index = this.order.indexOf(row);
    if (index < 0) {
      const fold = this.folds.find((candidate) => row > candidate.from && row <= candidate.to);
      if (!fold) return;
      this.unfold(fold);
      index = this.order.indexOf(row);
    }
    this.setCursor(index);
    this.list.reveal(index);
  }
}
