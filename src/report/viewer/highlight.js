// Colours of Python, and of the C++ or Triton code of kernels, which stands in triple quotes within Python. The state at the
// start of each row is found once for a text; the rows are coloured when they are shown.

const pythonWords = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield").split(" "),
);
const cppWords = new Set(
  ("auto bool break case char class const constexpr continue default do double else enum extern false float for if int " +
    "int64_t int32_t long namespace nullptr private public return short signed sizeof static static_cast struct switch " +
    "template true typename uint8_t unsigned using void while pragma include define").split(" "),
);
const pythonToken = /(#.*)|([rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(\b\d[\w.]*(?:e-?\d+)?)|([A-Za-z_]\w*)/g;
const cppToken = /(\/\/.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

const stateCode = 0;
const stateText = 1; // within a triple-quoted text
const stateCpp = 2; // within the source of a C++ kernel

/**
 * The state at the start of each row.
 * @param {string[]} rows
 */
function statesOf(rows) {
  const states = new Uint8Array(rows.length);
  let state = stateCode;
  let quotes = "";
  for (let index = 0; index < rows.length; index += 1) {
    states[index] = state;
    const row = rows[index];
    let from = 0;
    for (;;) {
      if (state === stateCode) {
        const double = row.indexOf('"""', from);
        const single = row.indexOf("'''", from);
        if (double < 0 && single < 0) break;
        const isDouble = single < 0 || (double >= 0 && double < single);
        const at = isDouble ? double : single;
        if (row.lastIndexOf("#", at) >= 0 && /^\s*#/.test(row)) break;
        quotes = isDouble ? '"""' : "'''";
        state = /async_compile\.cpp/.test(row.slice(0, at)) ? stateCpp : /async_compile\./.test(row.slice(0, at)) ? stateCode : stateText;
        from = at + 3;
        if (state === stateCode) {
          // The source of a Triton kernel is Python: only its quotes are text.
          quotes = "";
          break;
        }
      } else {
        const end = row.indexOf(quotes, from);
        if (end < 0) break;
        state = stateCode;
        from = end + 3;
      }
    }
  }
  return states;
}

/**
 * The row as coloured spans.
 * @param {string} row @param {number} state @returns {Child[]}
 */
function coloured(row, state) {
  if (state === stateText) return [make("span.t-string", null, row)];
  const isCpp = state === stateCpp;
  if (isCpp && /^\s*#/.test(row)) return [make("span.t-word", null, row)];
  const token = isCpp ? cppToken : pythonToken;
  const words = isCpp ? cppWords : pythonWords;
  /** @type {Child[]} */
  const parts = [];
  let from = 0;
  token.lastIndex = 0;
  for (let match = token.exec(row); match; match = token.exec(row)) {
    if (match.index > from) parts.push(row.slice(from, match.index));
    from = token.lastIndex;
    const [text, comment, string, number, word] = match;
    if (comment) parts.push(make("span.t-comment", null, text));
    else if (string) parts.push(make("span.t-string", null, text));
    else if (number) parts.push(make("span.t-number", null, text));
    else if (words.has(word)) parts.push(make("span.t-word", null, text));
    else parts.push(text);
  }
  if (from < row.length) parts.push(row.slice(from));
  return parts;
}
