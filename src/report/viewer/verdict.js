// Shows the verdict: a summary of the run in sentences and tiles, and the actions that would improve it.

const problemsShown = 20;  // how many problems of a damaged log are shown; a log can have thousands

/** @param {Process} process */
function tallyOf(process) {
  const eager = process.compilations.filter((compilation) => !isCompiled(compilation) && compilation.headline);
  return {
    functions: process.functions,
    compilations: process.compilations.length,
    breaks: process.breaks.length,
    again: process.compilations.filter(isAgain).length,
    seconds: process.compilations.reduce((sum, compilation) => sum + secondsOf(compilation), 0),
    kernels: process.compilations.reduce((sum, compilation) => sum + compilation.calls.length, 0),
    eager,
  };
}

/** @param {string} label @param {string | number} value @param {Route} route @param {string} note */
function tile(label, value, route, note) {
  return make("a.tile", { href: routeText(withProcess(route)) }, make("b", null, value), make("span", null, label), make("small", null, note));
}

/** @param {HTMLElement} root */
function showVerdict(root) {
  const process = currentProcess();
  const tally = tallyOf(process);
  /** @type {Child[]} */
  const sentence = [
    link({ view: "source" }, counted(tally.functions, "function")), ", ",
    link({ view: "verdict", to: "compilations" }, counted(tally.compilations, "compilation")),
    ...(tally.seconds ? [" in ", link({ view: "timeline" }, secondsText(tally.seconds))] : []), ", ",
    link({ view: "verdict", to: "breaks" }, counted(tally.breaks, "graph break")), ", ",
    link({ view: "recompilations" }, counted(tally.again, "recompilation")), ".",
  ];
  const ending = !tally.compilations
    ? "Nothing was compiled."
    : process.eager
      ? counted(process.eager, "function") + (process.eager === 1 ? " does" : " do") + " not run compiled, or not for every call."
      : tally.functions === 1 ? "It runs compiled." : "All of them run compiled.";
  const page = make("div.page");
  append(
    page,
    make("h1", null, ...(tally.compilations ? sentence : ["Nothing was compiled."])),
    tally.compilations ? make("p.lead", null, ending) : null,
    make(
      "div.tiles",
      null,
      tile(tally.functions === 1 ? "function" : "functions", tally.functions, { view: "source" }, "in your source"),
      tile(tally.compilations === 1 ? "compilation" : "compilations", tally.compilations, { view: "verdict", to: "compilations" }, tally.compilations ? "in the table below" : "none"),
      tile(tally.breaks === 1 ? "graph break" : "graph breaks", tally.breaks, { view: "verdict", to: "breaks" }, tally.breaks ? "each ends a graph" : !tally.compilations || tally.eager.length ? "none" : "none: every graph is whole"),
      tile(tally.again === 1 ? "recompilation" : "recompilations", tally.again, { view: "recompilations" }, tally.again ? "a guard failed" : "none"),
      tile("compiling", tally.seconds || !tally.compilations ? secondsText(tally.seconds) : "unknown", { view: "timeline" }, tally.kernels ? counted(tally.kernels, "kernel call") : "no kernels"),
    ),
    problemList(process),
    ...actionsOf(process, tally.eager),
    rankSummary(),
    compilationTable(process),
    missingList(process),
  );
  root.append(page);
  const to = readRoute().to;
  const target = to && document.getElementById(to);
  if (target) target.scrollIntoView();
}

/** @param {Process} process */
function problemList(process) {
  const items = [
    ...process.problems.map((problem) => "Offset " + problem.offset + ": " + problem.message),
    ...process.notes,
  ];
  if (!items.length) return null;
  if (items.length > problemsShown) items.splice(problemsShown, items.length, "And " + counted(items.length - problemsShown, "more line") + " of this kind.");
  return make("section.note", null, make("h2", null, "Notes and problems of the record"), make("ul", null, ...items.map((item) => make("li", null, ...withCode(item)))));
}

/**
 * Lists the functions that run eagerly, the graph breaks (the most expensive first) and the recompilations.
 * @param {Process} process @param {Compilation[]} eager
 */
function actionsOf(process, eager) {
  /** @type {HTMLElement[]} */
  const sections = [];
  const failed = eager.filter((compilation) => compilation.headline);
  if (failed.length) {
    sections.push(
      make("h2", { id: "not-compiled" }, "Not compiled"),
      make(
        "ol.actions",
        null,
        ...failed.map((compilation) =>
          actionItem(
            make("span.badge.red", null, "eager"),
            withCode(compilation.headline),
            null,
            compilation.details.length ? (compilation.breaks.length ? make("ul", null, ...compilation.details.map((detail) => make("li", null, ...withCode(detail)))) : make("pre", null, compilation.details.join("\n"))) : null,
            make("p.action-links", null, ...withoutEmpty([compilation.line >= 0 ? [sourceLink(compilation.line)] : null, [compilationLink(process.compilations.indexOf(compilation), "compilation " + compilation.id)]])),
          ),
        ),
      ),
    );
  }
  if (process.breaks.length) {
    const ranked = process.breaks.map((item, index) => ({ item, index })).sort((a, b) => b.item.compilations.length - a.item.compilations.length || b.item.seconds - a.item.seconds);
    sections.push(
      make("h2", { id: "breaks" }, "Graph breaks"),
      make("ol.actions", null, ...ranked.map(({ item }) => breakItem(process, item))),
    );
  }
  const again = process.compilations.map((compilation, index) => ({ compilation, index })).filter(({ compilation }) => isAgain(compilation));
  if (again.length) {
    sections.push(
      make("h2", { id: "again" }, "Compiled again"),
      make(
        "ol.actions",
        null,
        ...again.map(({ compilation, index }) =>
          actionItem(
            make("span.badge.amber", null, compilationLink(index)),
            [make("b", null, compilation.title), ": ", ...decidingOf(compilation)],
            costOf(secondsOf(compilation), "seconds that the recompilation took"),
          ),
        ),
      ),
      make("p.action-links", null, link({ view: "recompilations" }, "All values that changed, by guard")),
    );
  }
  return sections;
}

/** @param {number} seconds @param {string} title states what took the seconds */
function costOf(seconds, title) {
  return seconds ? make("span.cost", { title }, secondsText(seconds) + " to compile") : null;
}

/** @param {Process} process @param {Break} item */
function breakItem(process, item) {
  const program = item.compilations.length ? reproductionOf(process.compilations[item.compilations[0]]) : "";
  const reproduction = programOfBreak(process, item);
  const sentence = item.sentence.startsWith(item.where + ": ") ? item.sentence.slice(item.where.length + 2) : item.sentence;
  return actionItem(
    make("span.badge.red", null, "break"),
    [item.where ? make("b", null, item.line >= 0 ? sourceLink(item.line) : item.where) : null, " ", ...withCode(sentence)],
    costOf(item.seconds, "seconds that the compilations that end here took"),
    item.source ? make("pre", null, item.source) : null,
    item.hints.length
      ? make("details", { open: true }, make("summary", null, "What can be done"), make("ul", null, ...item.hints.filter((hint) => !hint.startsWith("The line")).map((hint) => make("li", null, ...withCode(hint)))))
      : null,
    make(
      "p.action-links",
      null,
      "Compilations that end here: ",
      ...item.compilations.flatMap((index, position) => [position ? ", " : "", compilationLink(index)]),
      item.link ? ["  \u00b7  ", make("span.url", null, item.link)] : null,
      reproduction ? ["  \u00b7  ", make("button.link", { onclick: () => openBreakProgram(reproduction) }, "copy as reproduction")] : null,
      program ? ["  \u00b7  ", make("button.link", { onclick: () => openReproduction(program) }, "the graph before it as a program")] : null,
    ),
  );
}

/** @param {BreakProgram} reproduction */
function openBreakProgram({ program, about, missing }) {
  openReproduction(program, "This graph break as a program", about + (missing.length ? " Missing: " + missing.join(", ") + "." : " The values of tensors are random."));
}

function rankSummary() {
  if (data.processes.length < 2) return null;
  return make("p", null, processesInWords(), " in this report. ", link({ view: "ranks" }, "What differs between them"));
}

/** @param {Process} process */
function compilationTable(process) {
  if (!process.compilations.length) return null;
  const total = Math.max(...process.compilations.map(secondsOf), 1e-9);
  const rows = process.compilations.map((compilation, index) => {
    const c = compilationKey(index);
    const figure = (/** @type {number} */ count, /** @type {Route} */ route) => make("td.figure", null, count ? link(route, count) : "");
    const calls = { forward: 0, backward: 0 };
    for (const call of compilation.calls) calls[call.direction === "backward" ? "backward" : "forward"] += 1;
    const seconds = secondsOf(compilation);
    const bar = make("i.seconds-bar");
    bar.style.width = Math.max(1, (100 * seconds) / total) + "%";
    const state = !isCompiled(compilation) ? compilation.status : compilation.isProved === null ? "" : compilation.isProved ? "proved" : "not proved";
    return make(
      "tr",
      null,
      make("td", null, compilationLink(index)),
      make("td", null, compilation.title),
      make("td", null, compilation.line >= 0 ? sourceLink(compilation.line) : ""),
      make("td.figure", null, seconds ? link({ view: "timeline" }, secondsText(seconds)) : "", seconds ? make("span.seconds-track", null, bar) : null),
      figure(compilation.breaks.length, { view: "verdict", to: "breaks" }),
      figure(calls.forward, { view: "fusion", c }),
      figure(calls.backward, { view: "fusion", c }),
      make("td", null, state ? make("span.badge." + (state === "proved" ? "green" : "red"), { title: compilation.whyNotProved || "The shown source is proved equivalent to the bytecode" }, state) : ""),
    );
  });
  const heads = ["compilation", "function", "place", "seconds", "breaks", "forward calls", "backward calls", "status"];
  return make(
    "section",
    { id: "compilations" },
    make("h2", null, "Compilations in chronological order"),
    make("div.table-scroll", null, make("table", null, make("thead", null, make("tr", null, ...heads.map((head) => make(/seconds|breaks|calls/.test(head) ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...rows))),
  );
}

/** @param {Process} process */
function missingList(process) {
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  for (const compilation of process.compilations)
    for (const missing of compilation.missing) {
      const text = compilation.id + " " + missing.kind + (missing.direction ? " (" + missing.direction + ")" : "");
      const known = reasons.get(missing.why);
      if (known) known.push(text);
      else reasons.set(missing.why, [text]);
    }
  if (!reasons.size) return null;
  return make(
    "section",
    { id: "missing" },
    make("h2", null, "Missing"),
    ...[...reasons].map(([why, names]) => make("details", null, make("summary", null, counted(names.length, "text") + ": " + why), make("p", null, names.join(", ")))),
  );
}
