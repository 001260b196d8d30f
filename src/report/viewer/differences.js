// Shows two texts side by side: a stage before and after a pass, or a stage of two compilations of one function.
// src/page/compare_texts.cpp compares the texts, and ignores the numbers at the ends of names.

const contextRows = 3;

/**
 * Two rows side by side, counted from 0. A side that has no row is -1. A fold stands for `count` equal rows.
 * @typedef {{kind: "same" | "changed" | "fold", left: number, right: number, count: number}} DifferenceRow
 */

/** @param {Difference} difference @param {number} leftCount @param {number} rightCount @param {boolean} isFolded */
function differenceRows(difference, leftCount, rightCount, isFolded) {
  /** @type {DifferenceRow[]} */
  const rows = [];
  let left = 0;
  let right = 0;
  let changes = 0;
  /** @param {number} leftEnd @param {number} rightEnd */
  const change = (leftEnd, rightEnd) => {
    while (left < leftEnd || right < rightEnd) {
      rows.push({ kind: "changed", left: left < leftEnd ? left++ : -1, right: right < rightEnd ? right++ : -1, count: 1 });
      changes += 1;
    }
  };
  for (let at = 0; at < difference.same.length; at += 3) {
    const [first, second, count] = difference.same.slice(at, at + 3);
    const follows = left < first || right < second || at > 0;
    change(first, second);
    const leads = at + 3 < difference.same.length || first + count < leftCount || second + count < rightCount;
    for (let index = 0; index < count; index += 1) {
      const isNear = (follows && index < contextRows) || (leads && index >= count - contextRows);
      if (isFolded && !isNear && count > 2 * contextRows + 2) {
        const before = rows[rows.length - 1];
        if (before && before.kind === "fold") before.count += 1;
        else rows.push({ kind: "fold", left, right, count: 1 });
      } else {
        rows.push({ kind: "same", left, right, count: 1 });
      }
      left += 1;
      right += 1;
    }
  }
  change(leftCount, rightCount);
  return { rows, changes };
}

/** @param {Compilation} compilation @param {Difference} difference */
function countOfChanges(compilation, difference) {
  const old = currentProcess().compilations[difference.compilation];
  const counts = [old.panes[difference.from], compilation.panes[difference.to]].map((pane) => rowsOfText(pane.text).length);
  return differenceRows(difference, counts[0], counts[1], true).changes;
}

/**
 * Returns the number of the first comparison in which a row differs, preferably a comparison with another compilation;
 * 0 if no row differs.
 * @param {Compilation} compilation
 */
function firstChange(compilation) {
  const { compilations } = currentProcess();
  const changed = compilation.differences.map((difference, number) => ({ difference, number })).filter(({ difference }) => countOfChanges(compilation, difference) > 0);
  const first = changed.find(({ difference }) => compilations[difference.compilation] !== compilation) || changed[0];
  return first ? first.number : 0;
}

/** @param {HTMLElement} root */
function showDifference(root) {
  const route = readRoute();
  const { compilations } = currentProcess();
  const index = compilationOfKey(route.c || "");
  const compilation = compilations[index];
  const number = Number(route.d || (compilation ? firstChange(compilation) : 0));
  const difference = compilation && compilation.differences[number];
  if (!difference) {
    root.append(emptyState("There is nothing to compare.", "The view of the recompilations has links to all comparisons."));
    return;
  }
  const old = compilations[difference.compilation];
  const from = old.panes[difference.from];
  const to = compilation.panes[difference.to];
  const leftRows = rowsOfText(from.text);
  const rightRows = rowsOfText(to.text);
  const spans = [spansOfText(from.text), spansOfText(to.text)];
  let isFolded = true;
  const list = new VirtualRows("Differences");
  const count = make("span.dim");
  const select = make(
    "select",
    { "aria-label": "What is compared", onchange: (/** @type {Event} */ event) => go(withProcess({ view: "difference", c: compilationKey(index), d: /** @type {HTMLSelectElement} */ (event.target).value })) },
    ...compilation.differences.map((item, at) => make("option", { value: at, selected: at === number }, titleOfDifference(compilation, item) + (countOfChanges(compilation, item) ? "" : " (equal)"))),
  );
  const lay = () => {
    const { rows, changes } = differenceRows(difference, leftRows.length, rightRows.length, isFolded);
    replaceContent(count, changes ? counted(changes, "row") + " differ" + (changes === 1 ? "s" : "") : "No row differs, apart from comments and the numbers at the ends of names.");
    list.reset(rows.length, 0, (at) => {
      const row = rows[at];
      if (row.kind === "fold") return make("div.row.fold", { role: "option" }, "\u22ef " + counted(row.count, "row") + " without a difference");
      /** @param {string[]} texts @param {number} line @param {number} side */
      const half = (texts, line, side) =>
        make("div.half" + (row.kind === "changed" ? (line < 0 ? ".none" : side ? ".added" : ".removed") : ""), null, make("span.number", null, line < 0 ? "" : line + 1), make("code", { title: line < 0 ? null : texts[line] }, ...(line < 0 ? [] : coloured(narrowed(texts[line]), spans[side][line], narrowedBy(texts[line])))));
      return make("div.row", { role: "option" }, half(leftRows, row.left, 0), half(rightRows, row.right, 1));
    });
  };
  const all = make("button", { "aria-pressed": "false", onclick: () => ((isFolded = !isFolded), all.setAttribute("aria-pressed", String(!isFolded)), lay()) }, "All rows");
  const heads = [[old, from], [compilation, to]].map(([of, pane]) => make("header.pane-head", null, make("b", null, /** @type {Compilation} */ (of).id + " " + titleOfPane(/** @type {RawPane} */ (pane))), make("span.dim", null, /** @type {RawPane} */ (pane).name)));
  root.append(make("div.difference", null, make("header.explorer-head", null, compilationLink(index), select, all, count), make("div.difference-heads", null, ...heads), make("div.code-pane", null, list.element)));
  lay();
}

/** @param {Compilation} compilation @param {Difference} difference */
function titleOfDifference(compilation, difference) {
  const old = currentProcess().compilations[difference.compilation];
  const to = compilation.panes[difference.to];
  if (old === compilation) return titleOfPane(old.panes[difference.from]) + " \u2192 " + titleOfPane(to);
  return "Since " + old.id + ": " + titleOfPane(to);
}

/**
 * Returns the links to the comparisons with each other compilation, by the index of the other compilation.
 * @param {number} index
 * @returns {Map<number, Child[]>}
 */
function differenceLinks(index) {
  const compilation = currentProcess().compilations[index];
  /** @type {Map<number, Child[]>} */
  const links = new Map();
  compilation.differences.forEach((difference, number) => {
    if (difference.compilation === index) return;
    const to = compilation.panes[difference.to];
    const known = links.get(difference.compilation) || [];
    known.push(" ", link({ view: "difference", c: compilationKey(index), d: String(number) }, titleOfPane(to)));
    links.set(difference.compilation, known);
  });
  return links;
}
