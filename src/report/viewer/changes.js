// Shows the differences between this run and an earlier run, the most important ones first.

/** @type {Record<string, [string, string]>} the colour and the text of the badge of each weight */
const weightBadges = { worse: ["red", "worse"], costs: ["amber", "does other work"], neutral: ["blue", "different"], better: ["green", "better"] };

/** @param {Changes} changes */
function headlineOfChanges(changes) {
  if (!changes.items.length) return "No difference: " + counted(changes.functions, "function") + " compiled with the same result.";
  const parts = Object.entries(weightBadges).map(([weight, [, text]]) => [changes.items.filter((item) => item.weight === weight).length, text]);
  return counted(changes.items.length, "difference") + ": " + parts.filter(([count]) => count).map(([count, text]) => count + " " + text).join(", ") + ".";
}

/** @param {Change} change */
function changeItem(change) {
  const [colour, text] = weightBadges[change.weight] || weightBadges.neutral;
  const details = change.details.length
    ? make("details", null, make("summary", null, counted(change.details.length, "detail")), make("ul", null, ...change.details.map((detail) => make("li", null, ...withCode(detail)))))
    : null;
  return actionItem(make("span.badge." + colour, { title: change.code }, text), withCode(change.sentence), change.line >= 0 ? sourceLink(change.line) : null, details);
}

/** @param {string} title @param {string[]} sentences */
function sentenceList(title, sentences) {
  if (!sentences.length) return null;
  return make("section", null, make("h2", null, title), make("ul", null, ...sentences.map((sentence) => make("li", null, ...withCode(sentence)))));
}

/** @param {HTMLElement} root */
function showChanges(root) {
  const { changes } = data;
  if (!changes) return;
  /** @type {Map<string, Change[]>} */
  const groups = new Map();
  for (const change of changes.items) groups.set(change.function, [...(groups.get(change.function) || []), change]);
  root.append(
    make(
      "div.page",
      null,
      make("h1", null, headlineOfChanges(changes)),
      make("p.lead", null, "Before: ", make("code", null, changes.before), make("br"), "After (the run that the other views show): ", make("code", null, changes.after)),
      ...[...groups].map(([title, items]) => make("section", null, make("h2", null, title || "The whole run"), make("ol.actions", null, ...items.map(changeItem)))),
      sentenceList("Not compared", changes.notCompared),
      sentenceList("Seconds, which never count as a difference", changes.timings),
    ),
  );
}
