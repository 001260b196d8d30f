// Colours code. src/page/highlight.cpp finds the spans; the spans of a row become elements when the row is shown.

const spanKinds = /** @type {Record<string, string>} */ ({ c: "span.t-comment", s: "span.t-string", S: "span.t-string", n: "span.t-number", w: "span.t-word" });
const spanPattern = /([csSnw])(?:(\d+)\.(\d+))?/g;

/** @type {Map<number, string[]>} */
const splitHighlights = new Map();
/**
 * Returns the coloured spans of each row of a text.
 * @param {number} text
 * @returns {string[]}
 */
function spansOfText(text) {
  let spans = splitHighlights.get(text);
  if (!spans) splitHighlights.set(text, (spans = (data.highlights[text] || "").split("\n")));
  return spans;
}

/**
 * True if the row begins within a string that began in an earlier row.
 * @param {string | undefined} spans
 */
const isWithinString = (spans) => spans !== undefined && spans.startsWith("S");

/**
 * Returns the shown part of a row, in which the coloured spans are elements.
 * @param {string} shown @param {string} spans the spans of the whole row
 * @param {number} cut the number of characters of the row before the shown part
 * @returns {Child[]}
 */
function coloured(shown, spans, cut) {
  /** @type {Child[]} */
  const parts = [];
  let end = 0;  // the end of `parts` in `shown`
  let at = -cut;  // the start of the previous span in `shown`
  for (const [, kind, gap, length] of (spans || "").matchAll(spanPattern)) {
    const from = Math.max(end, gap === undefined ? 0 : at + Number(gap));
    const to = length === undefined ? shown.length : Math.min(shown.length, at + Number(gap) + Number(length));
    at = length === undefined ? shown.length : at + Number(gap) + Number(length);
    if (from >= to) continue;
    if (from > end) parts.push(shown.slice(end, from));
    parts.push(make(spanKinds[kind], null, shown.slice(from, to)));
    end = to;
  }
  if (end < shown.length) parts.push(shown.slice(end));
  return parts;
}
