// Shows the user's files with the graphs, kernels, guards and graph breaks of each line.

const namesMax = 8;
const callsMax = 16;

/** Returns the user's files that the record mentions, those with most lines in graphs and graph breaks first. */
function filesInOrder() {
  const facts = factsOf(currentProcess());
  /** @type {Map<number, {lines: number, breaks: number}>} */
  const weights = new Map();
  for (const [line, entry] of facts) {
    const file = fileNumberOfLine(line);
    const weight = weights.get(file) || { lines: 0, breaks: 0 };
    weight.lines += entry.inGraph.size ? 1 : 0;
    weight.breaks += entry.breaks.length;
    weights.set(file, weight);
  }
  return [...weights]
    .map(([file, weight]) => ({ file, ...weight }))
    .filter(({ file }) => !data.files[file].isFramework)
    .sort((a, b) => b.lines + 5 * b.breaks - (a.lines + 5 * a.breaks) || a.file - b.file);
}

/** @param {HTMLElement} root */
function showSource(root) {
  const files = filesInOrder();
  if (!files.length) {
    root.append(emptyState("No line of your source is recorded.", "A log that ends before the first compilation contains no lines of source."));
    return;
  }
  const route = readRoute();
  const wanted = Number(route.file);
  const file = route.file !== undefined && data.files[wanted] ? wanted : files[0].file;
  const facts = factsOf(currentProcess());
  const details = make("aside.line-details", { "aria-live": "polite" });
  const pane = new CodePane({
    onHover: () => {},
    onPin: (_, row) => {
      const line = lineAt(file, row);
      pane.light(new Set(), new Set(line >= 0 ? [line] : []));
      keepRoute(withProcess({ view: "source", file: String(file), line: String(row) }));
      showLine(details, file, row);
    },
  });
  const source = fileSource(file);
  source.gutter = (row) => lineGutter(facts.get(lineAt(file, row)));
  const list = make(
    "nav.file-list",
    { "aria-label": "Files" },
    make("h2", null, "Files"),
    ...files.map((item) => {
      const entry = link({ view: "source", file: String(item.file) }, make("span", null, data.files[item.file].name), make("small", null, counted(item.lines, "line") + " in graphs" + (item.breaks ? ", " + counted(item.breaks, "break") : "")));
      entry.title = data.files[item.file].path;
      if (item.file === file) entry.setAttribute("aria-current", "page");
      return entry;
    }),
    legend(),
  );
  const head = make("header.pane-head", null, make("b", null, data.files[file].name), make("span.dim", { title: source.about }, source.about === data.files[file].name ? "" : source.about));
  root.append(make("div.source-view" + (data.measurements.length ? ".is-measured" : ""), null, list, make("section.annotated", null, head, pane.element), details));
  pane.show(source);
  const row = Number(route.line);
  const first = row > 0 ? row : firstRowOf(file, facts);
  if (first > 0) {
    pane.reveal(first);
    pane.light(new Set(), new Set(row > 0 ? [lineAt(file, row)] : []));
    showLine(details, file, first);
  }
}

/** @param {number} file @param {Map<number, LineFacts>} facts */
function firstRowOf(file, facts) {
  let best = 0;
  for (const [line, entry] of facts) {
    if (fileNumberOfLine(line) !== file) continue;
    const row = rowOfLine(line);
    const isDearer = entry.breaks.length > 0;
    if (isDearer && (!best || row < best)) best = row;
  }
  if (best) return best;
  for (const line of facts.keys()) if (fileNumberOfLine(line) === file && (!best || rowOfLine(line) < best)) best = rowOfLine(line);
  return best;
}

function legend() {
  return make(
    "div.legend",
    null,
    make("h2", null, "Marks"),
    make("p", null, make("i.state.in-graph"), " in a graph"),
    make("p", null, make("i.state.eager"), " runs eagerly"),
    make("p", null, make("span.mark-break", null, "\u21af"), " graph break"),
    make("p", null, make("span.mark-graphs", null, "0/0+1"), " its first graph, and the number of further graphs"),
    make("p", null, make("span.mark-seconds", null, "2.50\u00a0s"), " to compile the function that begins here"),
    make("p", null, make("span.mark-guard", null, "\u25c7"), " guards of the line; \u25c6 a guard failed"),
    make("p", null, make("span.mark-kernels", null, "2\u2193 3\u2191"), " forward and backward kernel calls"),
    ...[...new Set(data.measurements.map((item) => item.kind))].map((kind) => make("p", null, make("span.mark-measured", null, "12"), " " + kind + ", the largest value of the line; red if the line is at fault")),
  );
}

/** @param {LineFacts | undefined} facts @returns {Child} */
function lineGutter(facts) {
  if (!facts) return null;
  const { compilations } = currentProcess();
  const isEager = facts.breaks.length > 0 || facts.begins.some((index) => !isCompiled(compilations[index]));
  const seconds = facts.begins.reduce((sum, index) => sum + secondsOf(compilations[index]), 0);
  const graphs = [...facts.inGraph].map((index) => compilations[index].id);
  const kernels = { forward: new Set(), backward: new Set() };
  for (const { call } of facts.calls) kernels[call.direction === "backward" ? "backward" : "forward"].add(call.kernel + call.row);
  const fragment = document.createDocumentFragment();
  const counts = [...(kernels.forward.size ? [kernels.forward.size + "\u2193"] : []), ...(kernels.backward.size ? [kernels.backward.size + "\u2191"] : [])].join(" ");
  if (data.measurements.length)
    fragment.append(make("span.mark-measured" + (facts.measured.some((item) => item.isAlarm) ? ".alarm" : ""), { title: facts.measured.map(measuredText).join("\n") || null }, facts.measured.map((item) => Number(item.value.toPrecision(2)) + "\u00a0" + item.unit).join(" ")));
  fragment.append(
    make("span.mark-seconds", { title: seconds ? "Seconds of " + counted(facts.begins.length, "compilation") + " of the function that begins here" : null }, seconds ? secondsText(seconds) : ""),
    make("span.mark-graphs", { title: graphs.length ? "In the graphs of " + graphs.join(", ") : null }, graphs.length ? graphs[0] + (graphs.length > 1 ? "+" + (graphs.length - 1) : "") : ""),
    make("span.mark-kernels", null, counts),
    make("span.mark-guard", { title: facts.failures.length ? counted(facts.failures.length, "failure") + " of guards of this line" : null }, facts.failures.length ? "\u25c6" + facts.failures.length : facts.limits.length ? "\u25c7" : ""),
    make("span.mark-break", null, facts.breaks.length ? "\u21af" : ""),
    make("i.state" + (isEager ? ".eager" : facts.inGraph.size ? ".in-graph" : "")),
  );
  return fragment;
}

/** @param {Measurement} item */
function measuredText(item) {
  return item.kind + ": " + Number(item.value.toPrecision(2)) + " " + item.unit + (item.text ? "; " + item.text : "");
}

/** @param {HTMLElement} root @param {number} file @param {number} row */
function showLine(root, file, row) {
  const process = currentProcess();
  const line = lineAt(file, row);
  const facts = factsOf(process).get(line);
  const text = ((data.files[file].text < 0 ? data.files[file].quoted[row] : rowsOfText(data.files[file].text)[row - 1]) || "").trim();
  replaceContent(root, make("h2", null, data.files[file].name + ":" + row), text ? make("pre", null, text) : make("p.dim", null, "The record does not quote this line."));
  if (!facts) {
    append(root, make("p.dim", null, "The record contains nothing about this line: no node of a graph, no guard and no graph break comes from it."));
    return;
  }
  if (facts.measured.length) append(root, make("section", null, make("h3" + (facts.measured.some((item) => item.isAlarm) ? ".red" : ""), null, "Measured"), make("ul.plain", null, ...facts.measured.map((item) => make("li", null, ...withCode(measuredText(item)))))));
  for (const index of facts.breaks) append(root, make("section", null, make("h3.red", null, "Graph break"), make("p", null, ...withCode(process.breaks[index].sentence)), make("ul", null, ...process.breaks[index].hints.filter((hint) => !hint.startsWith("The line")).map((hint) => make("li", null, ...withCode(hint))))));
  if (facts.begins.length) {
    append(
      root,
      make("section", null, make("h3", null, facts.begins.every((index) => process.compilations[index].isResume) ? "The resume function of a graph break begins here" : "A compiled function begins here"), make("ul.plain", null, ...facts.begins.map((index) => {
        const compilation = process.compilations[index];
        return make("li", null, compilationLink(index), " ", isCompiled(compilation) ? "" : compilation.status + " ", make("span.dim", null, secondsOf(compilation) ? secondsText(secondsOf(compilation)) : ""));
      }))),
    );
  }
  if (facts.nodes.length) {
    /** @type {Map<number, typeof facts.nodes>} */
    const byCompilation = new Map();
    for (const node of facts.nodes) byCompilation.set(node.compilation, [...(byCompilation.get(node.compilation) || []), node]);
    append(
      root,
      make("section", null, make("h3", null, "In graphs"), ...[...byCompilation].map(([index, nodes]) => {
        const open = link({ c: compilationKey(index), pane: "source", line: String(row), file: String(file) }, process.compilations[index].id);
        return make("p", null, open, " ", ...nodes.slice(0, namesMax).flatMap((node, position) => [position ? ", " : "", make("code", { title: node.module || null }, node.name), " = " + node.operator]), nodes.length > namesMax ? " and " + (nodes.length - namesMax) + " more" : "");
      })),
    );
  }
  if (facts.calls.length) append(root, callsOfLine(facts));
  if (facts.saved.length) {
    append(
      root,
      make("section", null, make("h3", null, "Saved for the backward: " + bytesText(facts.saved.reduce((sum, item) => sum + (item.saved.isInput ? 0 : item.saved.bytes || 0), 0))), make("ul.plain", null, ...facts.saved.slice(0, namesMax).map(({ compilation, saved }) =>
        make("li", null, make("code", null, saved.name), " ", saved.shape, " ", make("b", null, bytesText(saved.bytes)), make("span.dim", null, " " + process.compilations[compilation].id))))),
    );
  }
  if (facts.failures.length) {
    append(root, make("section", null, make("h3.red", null, "Guards of this line that failed"), make("ul.plain", null, ...facts.failures.map(({ compilation, failure }) => make("li", null, compilationLink(compilation), " ", ...changeOf(failure))))));
  }
  if (facts.limits.length) {
    append(root, make("section", null, make("h3", null, "Guards of this line"), make("ul.plain", null, ...facts.limits.map(({ compilation, limit }) => make("li", null, link({ view: "guards", c: compilationKey(compilation) }, process.compilations[compilation].id), " ", make("code", null, limit.condition))))));
  }
}

/**
 * Lists the kernel calls of a line. Several calls of one kernel, such as the calls of equal layers, are one item.
 * @param {LineFacts} facts
 */
function callsOfLine(facts) {
  /** @type {Map<string, typeof facts.calls>} */
  const kernels = new Map();
  for (const item of facts.calls) {
    const key = [item.compilation, item.call.direction, item.call.kernel].join("\n");
    kernels.set(key, [...(kernels.get(key) || []), item]);
  }
  const rows = [...kernels.values()].slice(0, callsMax).map((calls) => {
    const [{ compilation, call }] = calls;
    const isBackward = call.direction === "backward";
    return make("li", null, make("span.badge." + (isBackward ? "amber" : "blue"), null, isBackward ? "backward" : "forward"), " ",
      link({ c: compilationKey(compilation), pane: isBackward ? "kernel-bw" : "kernel", line: String(call.row) }, call.kernel),
      make("span.dim", null, " " + currentProcess().compilations[compilation].id + (calls.length > 1 ? ", " + calls.length + " calls" : "")));
  });
  const rest = kernels.size - rows.length;
  return make("section", null, make("h3", null, counted(facts.calls.length, "kernel call")), make("ul.plain", null, ...rows), rest > 0 ? make("p.dim", null, "and calls of " + counted(rest, "more kernel")) : null);
}

/** @param {string} title @param {string} text */
function emptyState(title, text) {
  return make("div.empty", null, make("h1", null, title), make("p", null, text));
}
