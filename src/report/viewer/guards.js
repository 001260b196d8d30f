// Shows the conditions under which each compilation is used again, grouped by the guarded value, and as code.

/** @param {HTMLElement} root */
function showGuards(root) {
  const process = currentProcess();
  const candidates = process.compilations.map((compilation, index) => ({ compilation, index })).filter(({ compilation }) => compilation.limits.length || compilation.panes.some((pane) => pane.stage === "guards"));
  if (!candidates.length) {
    root.append(emptyState("No guards are recorded.", "Nothing was compiled, or the log has no guards, because it is incomplete or PyTorch is older than 2.6."));
    return;
  }
  const key = readRoute().c;
  const asked = key ? compilationOfKey(key) : -1;
  const index = candidates.some((candidate) => candidate.index === asked) ? asked : candidates[0].index;
  const compilation = process.compilations[index];
  const select = make("select", { "aria-label": "Compilation", onchange: (/** @type {Event} */ event) => go(withProcess({ view: "guards", c: /** @type {HTMLSelectElement} */ (event.target).value })) }, ...candidates.map((candidate) => make("option", { value: compilationKey(candidate.index), selected: candidate.index === index }, candidate.compilation.id + "  " + candidate.compilation.title)));
  const groups = make("div.guard-groups");
  const filter = /** @type {HTMLInputElement} */ (make("input", { type: "search", placeholder: "Filter: x.shape, grad mode, ...", "aria-label": "Filter guards", oninput: () => fill() }));
  const fill = () => {
    const wanted = filter.value.trim().toLowerCase();
    /** @type {Map<string, Limit[]>} */
    const bySubject = new Map();
    let count = 0;
    for (const limit of compilation.limits) {
      const subject = limit.subject ? objectOf(limit.subject) : "several values, or the state of the process";
      if (wanted && !(limit.condition + " " + limit.why + " " + subject).toLowerCase().includes(wanted)) continue;
      bySubject.set(subject, [...(bySubject.get(subject) || []), limit]);
      count += 1;
    }
    replaceContent(
      groups,
      make("h2.dim.count", null, compilation.limits.length ? counted(count, "condition") + (wanted ? " with this text" : "") : "Only dumps of depyf contain the conditions in the terms of your program. The guards on the right are in PyTorch's terms."),
      ...[...bySubject].map(([subject, limits]) =>
        make("section.guard-group", null, make("h3", null, subject), make("ul.plain", null, ...limits.map((limit) => make("li", null, make("code", null, limit.condition), limit.line >= 0 ? make("small", null, sourceLink(limit.line), "  ", make("code", null, textOfLine(limit.line))) : limit.why ? make("small", null, limit.why) : null)))),
      ),
    );
  };
  fill();
  const pane = compilation.panes.find((candidate) => candidate.stage === "guards");
  const left = make("section.guard-words", null, make("header.explorer-head", null, select, filter), make("h1", null, "This compilation is used again if all of these conditions hold"), groups, blockOf("Symbolic sizes", compilation.symbols.slice(1)), blockOf("Known or checked at run time", compilation.atRunTime), blockOf("Time to check the guards", compilation.guardTime));
  const view = make("div.guards-view", null, left);
  root.append(view);
  if (pane) {
    const code = new CodePane({ onHover: () => {}, onPin: () => {} });
    view.append(make("section.pane", null, make("header.pane-head", null, make("b", null, "The guards as they are checked"), make("span.dim", null, pane.name)), code.element));
    code.show(paneSource(pane, "guards"));
  }
}

/**
 * Returns the object that a guarded value belongs to, such as `x` for `x.shape[0]` and `self.norm` for `self.norm.eps`.
 * @param {string} subject
 */
function objectOf(subject) {
  const inner = /^\w+\((.*)\)$/.exec(subject);  // The subject is a call such as type(x) or len(x).
  const path = inner ? inner[1] : subject;
  return path.replace(/\.(?:shape|size|stride)\b.*$/, "").replace(/\.[\p{L}_][\p{L}\p{N}_]*(?:\(\))?$/u, "") || path;
}

/** @param {string} title @param {string[]} rows */
function blockOf(title, rows) {
  return rows.length ? make("section", null, make("h3", null, title), make("pre", null, rows.join("\n"))) : null;
}
