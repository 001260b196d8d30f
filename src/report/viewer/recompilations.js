// Shows the recompilations of each function: the guard that failed, the value that the guard expected, and the value of
// the call.

/**
 * Returns the expected and the actual value of a failed guard, or the text of the guard if the values are unknown.
 * @param {Failure} failure
 * @returns {Child[]}
 */
function changeOf(failure) {
  if (!failure.subject) return [make("code", null, failure.guard)];
  if (!failure.expected && !failure.actual) return [make("code", null, failure.subject), " ", failure.guard];
  return [make("code", null, failure.subject), ": ", make("span.old", null, failure.expected || "?"), " \u2192 ", make("span.new", null, failure.actual || "?")];
}

/**
 * Returns the reason of a recompilation: the value that changed, and the line that caused its guard, which PyTorch
 * writes as a comment.
 * @param {Compilation} compilation
 * @returns {Child[]}
 */
function decidingOf(compilation) {
  const comment = /^(.*?)\s+# (\S+\.py:\d+)\s+(.*)$/.exec(compilation.deciding);
  if (!comment) return [compilation.deciding];
  const [, change, place, text] = comment;
  const failure = compilation.failures.find((candidate) => placeOfLine(candidate.line) === place);
  return [change, ", guarded at ", failure ? sourceLink(failure.line) : place, " ", make("code", null, text)];
}

/** @param {HTMLElement} root */
function showRecompilations(root) {
  const process = currentProcess();
  /** @type {Map<string, number[]>} */
  const functions = new Map();
  process.compilations.forEach((compilation, index) => functions.set(functionKey(compilation), [...(functions.get(functionKey(compilation)) || []), index]));
  const again = [...functions.values()].filter((indices) => indices.some((index) => process.compilations[index].deciding));
  if (!again.length) {
    root.append(emptyState("Nothing was compiled again.", "The record contains no call that a guard refused."));
    return;
  }
  const page = make("div.page", null, make("h1", null, "Recompilations"), make("p.lead", null, "This view shows each call that no compilation accepted, with the guards that refused the call."));
  for (const indices of again) {
    const { title } = process.compilations[indices[0]];
    const rows = indices.flatMap((index) => {
      const compilation = process.compilations[index];
      if (!compilation.failures.length)
        return [make("tr", null, make("td", null, compilationLink(index)), make("td", { colspan: 4 }, ...(compilation.deciding ? decidingOf(compilation) : [make("span.dim", null, "the first compilation")])), make("td.figure", null, secondsOf(compilation) ? secondsText(secondsOf(compilation)) : ""))];
      return compilation.failures.map((failure, position) =>
        make(
          "tr",
          null,
          make("td", null, position ? "" : compilationLink(index)),
          make("td", null, failure.of || "an earlier compilation"),
          make("td", null, ...changeOf(failure), failure.alike.length ? make("small", { title: failure.alike.join(", ") }, " and the same for " + counted(failure.alike.length, "other value")) : null),
          make("td", null, failure.line >= 0 ? sourceLink(failure.line) : failure.origin || make("span.dim", null, "not recorded")),
          make("td", null, failure.line >= 0 ? make("code", null, textOfLine(failure.line)) : ""),
          make("td.figure", null, position ? "" : secondsOf(compilation) ? secondsText(secondsOf(compilation)) : ""),
        ),
      );
    });
    const heads = ["compiled", "refused by", "value: expected \u2192 was", "guarded at", "line", "seconds"];
    const compared = indices.flatMap((index) => [...differenceLinks(index)].map(([other, links]) => ({ index, other, links })));
    page.append(make("section", null, make("h2", null, title), make("div.table-scroll", null, make("table.changes", null, make("thead", null, make("tr", null, ...heads.map((head) => make(head === "seconds" ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...rows))), ...compared.map(({ index, other, links }) => make("p.differences", null, make("small", null, process.compilations[index].id + " beside " + process.compilations[other].id + ": "), ...links))));
  }
  root.append(page);
}
