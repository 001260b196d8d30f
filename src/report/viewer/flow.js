// Shows how a call passes through the compiled code: which cache entry it takes, at which graph breaks the graphs end,
// which code runs eagerly, and in which resume functions the call continues.

/** @typedef {{title: string, entries: number[], ends: Map<number, FlowFunction[]>, isResume: boolean}} FlowFunction */

/** @returns {FlowFunction[]} the functions that no graph break leads to, with their resume functions */
function flowOf() {
  const { compilations } = currentProcess();
  /** @type {Map<string, FlowFunction>} */
  const functions = new Map();
  compilations.forEach((compilation, index) => {
    const key = functionKey(compilation);
    let entry = functions.get(key);
    if (!entry) functions.set(key, (entry = { title: compilation.title, entries: [], ends: new Map(), isResume: compilation.isResume || /torch_dynamo_resume_in_/.test(compilation.name) }));
    entry.entries.push(index);
  });
  /** @type {Set<FlowFunction>} */
  const reached = new Set();
  for (const flow of functions.values()) {
    for (const index of flow.entries) {
      const compilation = compilations[index];
      for (const other of functions.values()) {
        if (other === flow || !other.isResume) continue;
        const target = compilations[other.entries[0]];
        const isCalled = compilation.resumeCalls.some((name) => other.entries.some((entry) => compilations[entry].resumeNames.includes(name)));
        // A log does not name resume functions. They are found by the name of the function and the line of the graph
        // break.
        const isNamed = !compilation.resumeCalls.length && compilation.breaks.some((number) => currentProcess().breaks[number].line === target.line && target.line >= 0);
        if (!isCalled && !isNamed) continue;
        for (const number of compilation.breaks) {
          const item = currentProcess().breaks[number];
          if (item.line >= 0 && target.line >= 0 && item.line !== target.line && compilation.breaks.length > 1) continue;
          const next = flow.ends.get(number) || [];
          if (!next.includes(other)) next.push(other);
          flow.ends.set(number, next);
          reached.add(other);
        }
      }
      for (const number of compilation.breaks) if (!flow.ends.has(number)) flow.ends.set(number, []);
    }
  }
  const roots = [...functions.values()].filter((flow) => !reached.has(flow));
  return roots.length ? roots : [...functions.values()];
}

/**
 * Returns a text with the lines of the function's own file that are in its graphs; empty if there are none. The lines
 * distinguish the two resume functions of a graph break.
 * @param {FlowFunction} flow
 */
function linesInGraphs(flow) {
  const { compilations } = currentProcess();
  const own = compilations[flow.entries[0]].line;
  if (own < 0) return "";
  const rows = flow.entries.flatMap((index) => compilations[index].nodes.flatMap(([, , , line]) => (line >= 0 && fileNumberOfLine(line) === fileNumberOfLine(own) ? [rowOfLine(line)] : [])));
  return rows.length ? (new Set(rows).size === 1 ? "line " : "lines ") + rangesOf(rows) : "";
}

/** @param {HTMLElement} root */
function showFlow(root) {
  const process = currentProcess();
  if (!process.compilations.length) {
    root.append(emptyState("Nothing was compiled.", "There is no flow from graph to graph."));
    return;
  }
  const page = make("div.page", null, make("h1", null, "Flow"), make("p.lead", null, "A call takes the first cache entry whose guards hold, and runs the graph of the entry. At a graph break, a statement runs eagerly, and the call continues in the resume function."));
  const shown = new Set();
  /** @param {FlowFunction} flow @returns {HTMLElement} */
  const box = (flow) => {
    if (shown.has(flow)) return make("div.flow-again", null, "continues in ", make("b", null, flow.title), ", above");
    shown.add(flow);
    const seconds = flow.entries.reduce((sum, index) => sum + secondsOf(process.compilations[index]), 0);
    return make(
      "section.flow-function",
      null,
      make("header", null, make("span", null, make("b", null, flow.title), flow.isResume && linesInGraphs(flow) ? make("span.dim", null, " \u00b7 " + linesInGraphs(flow)) : null), make("span.cost", null, counted(flow.entries.length, "entry").replace("entrys", "entries") + (seconds ? ", " + secondsText(seconds) : ""))),
      make("ol.flow-entries", null, ...flow.entries.map((index, position) => flowEntry(index, position, sharedConditions(flow.entries)))),
      ...[...flow.ends].map(([number, next]) => {
        const item = process.breaks[number];
        return make(
          "div.flow-end",
          null,
          make("div.flow-eager", null, make("span.badge.red", null, "break"), " ", item.line >= 0 ? sourceLink(item.line) : item.where, " ", make("code", null, item.source), make("small", null, ...withCode(item.reason), ", " + counted(item.compilations.length, "graph") + (item.compilations.length === 1 ? " ends" : " end") + " here" + (item.seconds ? ", " + secondsText(item.seconds) : ""))),
          ...(next.length ? next.map(box) : [make("div.flow-again", null, "the code behind the break runs eagerly, or was not compiled in this run")]),
        );
      }),
    );
  };
  const roots = flowOf();
  const map = flowMaps(roots);
  if (map) page.append(map);
  for (const flow of roots) page.append(box(flow));
  root.append(page);
}

/**
 * Returns the conditions that all entries of a function share. They do not decide which entry a call takes.
 * @param {number[]} entries
 */
function sharedConditions(entries) {
  const { compilations } = currentProcess();
  const compiled = entries.map((index) => compilations[index]).filter((compilation) => compilation.limits.length);
  if (compiled.length < 2) return new Set();
  const sets = compiled.map((compilation) => new Set(compilation.limits.map((limit) => limit.condition)));
  return new Set([...sets[0]].filter((condition) => sets.every((set) => set.has(condition))));
}

const conditionsShown = 6;
const conditionLengthMax = 60;

/**
 * Returns a cache entry as a branch of the decision which entry a call takes, with the conditions of the entry. If
 * there are conditions that the entries do not share, only they are listed.
 * @param {number} index
 * @param {number} position
 * @param {Set<string>} shared
 */
function flowEntry(index, position, shared) {
  const compilation = currentProcess().compilations[index];
  const graphs = compilation.panes.filter((pane) => pane.stage === "captured").length;
  const compared = compilation.limits.filter((limit) => /[<>=]=|<|>/.test(limit.condition) && limit.condition.length < conditionLengthMax);
  const deciding = compared.filter((limit) => !shared.has(limit.condition));
  const wanted = (deciding.length ? deciding : compared).slice(0, conditionsShown);
  return make(
    "li",
    null,
    make("span.badge." + (isCompiled(compilation) ? "green" : "red"), null, compilationLink(index)),
    make(
      "div",
      null,
      isCompiled(compilation)
        ? [make("span.dim", null, position ? "else if " : "if "), ...(wanted.length ? wanted.flatMap((limit, at) => [at ? " and " : "", make("code", null, limit.condition)]) : [make("span.dim", null, "its guards hold")]), wanted.length < compilation.limits.length && wanted.length ? " and " : null, wanted.length < compilation.limits.length && wanted.length ? link({ view: "guards", c: compilationKey(index) }, compilation.limits.length - wanted.length + " more") : null]
        : withCode(compilation.headline),
      make("small", null, ...withoutEmpty([compilation.deciding ? ["compiled because ", ...decidingOf(compilation)] : null, graphs ? [counted(compilation.nodes.length, "node")] : null, compilation.calls.length ? [counted(compilation.calls.length, "kernel call")] : null])),
    ),
  );
}
