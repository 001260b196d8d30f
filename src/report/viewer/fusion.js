// Shows the operators of each kernel call and the bytes that it reads and writes, the kernels that were not fused and
// the reasons, the buffers, and the values that the forward saves for the backward.

/** @param {string} stage @param {(index: number) => boolean} isCandidate @param {number} chosen */
function compilationSelect(stage, isCandidate, chosen) {
  return make(
    "select",
    { "aria-label": "Compilation", onchange: (/** @type {Event} */ event) => go(withProcess({ view: stage, c: /** @type {HTMLSelectElement} */ (event.target).value })) },
    ...currentProcess().compilations.flatMap((compilation, index) => (isCandidate(index) ? [make("option", { value: compilationKey(index), selected: index === chosen }, compilation.id + "  " + compilation.title)] : [])),
  );
}

/** @param {HTMLElement} root */
function showFusion(root) {
  const { compilations } = currentProcess();
  const has = (/** @type {number} */ index) => compilations[index].calls.length > 0;
  const key = readRoute().c;
  const asked = key ? compilationOfKey(key) : -1;
  const index = asked >= 0 && has(asked) ? asked : compilations.findIndex((_, candidate) => has(candidate));
  if (index < 0) {
    root.append(emptyState("There are no kernels.", "No output code of Inductor is recorded: another backend was used, or the log is incomplete."));
    return;
  }
  const compilation = compilations[index];
  const page = make("div.page", null, make("h1", null, "Fusion and memory"), make("p", null, compilationSelect("fusion", has, index), " ", compilationLink(index, "open in the explorer")));
  for (const direction of ["forward", "backward"]) {
    const calls = compilation.calls.filter((call) => (call.direction === "backward" ? "backward" : "forward") === direction);
    if (!calls.length) continue;
    page.append(make("h2", null, direction === "forward" ? "Forward" : "Backward"), kernelTable(index, calls), notFusedList(compilation, direction) || "", bufferChart(compilation, direction, calls) || "");
  }
  page.append(savedTable(compilation));
  root.append(page);
}

/** @param {number} index @param {Call[]} calls */
function kernelTable(index, calls) {
  const total = (/** @type {(call: Call) => number | null} */ of) => calls.reduce((sum, call) => sum + (of(call) || 0), 0);
  const rows = calls.map((call) => {
    const operators = [...new Set(call.nodes.map(([, operator]) => operator.replace(/^aten\./, "")).filter(Boolean))];
    return make(
      "tr",
      null,
      make("td", null, link({ c: compilationKey(index), pane: call.direction === "backward" ? "kernel-bw" : "kernel", line: String(call.row) }, call.kernel), call.kind === "library" ? make("small", null, " library") : null),
      make("td", null, make("small", { title: call.nodes.map(([name, operator]) => name + " = " + operator).join("\n") }, operators.slice(0, 7).join(", ") + (operators.length > 7 ? " and " + (operators.length - 7) + " more" : ""))),
      make("td", null, call.lines.length ? call.lines.slice(0, 4).flatMap((line, position) => [position ? ", " : "", sourceLink(line)]) : make("small", null, call.why || "not recorded")),
      make("td.figure", null, bytesText(call.bytesRead)),
      make("td.figure", null, bytesText(call.bytesWritten)),
    );
  });
  const heads = ["kernel call", "operators", "lines", "reads", "writes"];
  return make(
    "div.table-scroll",
    null,
    make(
      "table.kernels",
      null,
      make("thead", null, make("tr", null, ...heads.map((head) => make(/reads|writes/.test(head) ? "th.figure" : "th", { scope: "col" }, head)))),
      make("tbody", null, ...rows),
      make("tfoot", null, make("tr", null, make("td", { colspan: 3 }, counted(calls.length, "call")), make("td.figure", null, bytesText(total((call) => call.bytesRead))), make("td.figure", null, bytesText(total((call) => call.bytesWritten))))),
    ),
  );
}

/** @param {Compilation} compilation @param {string} direction */
function notFusedList(compilation, direction) {
  const pairs = compilation.notFused.filter((pair) => pair.direction === direction);
  if (!pairs.length) return null;
  return make("details.not-fused", { open: pairs.length <= 12 }, make("summary", null, counted(pairs.length, "pair") + " of neighbours that were not fused"), make("ul", null, ...pairs.map((pair) => make("li", null, make("b", null, pair.first), " and ", make("b", null, pair.second), ": ", pair.why))));
}

const bufferRowsMax = 60;

/**
 * Draws the lifetime of each buffer, from the call that first writes it to the call that last reads it, and the peak of
 * the total size. Returns null if there are no buffers.
 * @param {Compilation} compilation @param {string} direction @param {Call[]} calls
 */
function bufferChart(compilation, direction, calls) {
  const bytes = new Map(compilation.buffers.filter((buffer) => buffer.direction === direction).map((buffer) => [buffer.name, buffer]));
  /** @type {Map<string, {name: string, from: number, to: number, bytes: number | null}>} */
  const lives = new Map();
  calls.forEach((call, position) => {
    for (const name of call.writes) {
      const buffer = bytes.get(name);
      if (buffer && !lives.has(name)) lives.set(name, { name, from: position, to: buffer.isOutput ? calls.length - 1 : position, bytes: buffer.bytes });
    }
    for (const name of call.reads) {
      const life = lives.get(name);
      if (life && life.to < position) life.to = position;
    }
  });
  const all = [...lives.values()];
  if (!all.length) return null;
  const alive = calls.map((_, position) => all.reduce((sum, life) => sum + (life.from <= position && position <= life.to ? life.bytes || 0 : 0), 0));
  const peak = Math.max(...alive);
  const at = alive.indexOf(peak);
  const width = 100 / calls.length;
  const rows = [...all].sort((a, b) => (b.bytes || 0) - (a.bytes || 0)).slice(0, bufferRowsMax).sort((a, b) => a.from - b.from);
  const unknown = all.filter((life) => life.bytes === null).length;
  const chart = make(
    "div.lives",
    { role: "img", "aria-label": "Lifetimes of buffers" },
    ...rows.map((life) => {
      const bar = make("i");
      bar.style.marginLeft = life.from * width + "%";
      bar.style.width = (life.to - life.from + 1) * width + "%";
      return make("div.life", { title: life.name + ": " + calls[life.from].kernel + " to " + calls[life.to].kernel + ", " + bytesText(life.bytes) }, make("span.life-name", null, life.name), make("span.life-track" + (life.from <= at && at <= life.to ? ".at-peak" : ""), null, bar), make("span.figure", null, bytesText(life.bytes)));
    }),
  );
  return make(
    "section",
    null,
    make("h3", null, "Buffers: at most " + bytesText(peak) + " at once, in " + calls[at].kernel),
    make("p.dim", null, "Each bar shows a buffer from the call that writes it to the last call that reads it. Inputs and parameters are not counted. A buffer that reuses the memory of another buffer is counted separately." + (unknown ? " The size of " + counted(unknown, "buffer") + " is unknown." : "") + (all.length > rows.length ? " Only the " + rows.length + " largest of " + all.length + " buffers are shown." : "")),
    chart,
  );
}

/** @param {Compilation} compilation */
function savedTable(compilation) {
  const saved = [...compilation.saved].sort((a, b) => (b.bytes || 0) - (a.bytes || 0));
  if (!saved.length) return make("section", null, make("h2", null, "Saved for the backward"), make("p.dim", null, "No saved values are recorded: there is no backward, or its graph is not recorded."));
  const own = saved.filter((item) => !item.isInput);
  const sum = own.reduce((total, item) => total + (item.bytes || 0), 0);
  const heads = ["value", "shape", "bytes", "computed at", "line"];
  return make(
    "section",
    null,
    make("h2", null, "Saved for the backward: " + bytesText(sum) + " of activations"),
    make(
      "div.table-scroll",
      null,
      make("table", null, make("thead", null, make("tr", null, ...heads.map((head) => make(head === "bytes" ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...saved.slice(0, 400).map((item) =>
        make("tr", null, make("td", null, make("code", null, item.name)), make("td", null, make("code", null, item.shape)), make("td.figure", null, item.isInput ? make("small", { title: "The input is kept anyway, so the sum does not include it" }, "an input, ", bytesText(item.bytes)) : bytesText(item.bytes)), make("td", null, item.line >= 0 ? sourceLink(item.line) : ""), make("td", null, item.line >= 0 ? make("code", null, textOfLine(item.line)) : ""))))),
    ),
  );
}
