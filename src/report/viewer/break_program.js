// Writes a program that reproduces a graph break on its own. The program has the user's function, the definitions of
// the file that the function needs, and a call with inputs of the recorded shapes. If the inputs are unknown and the
// file is a script, the program is the whole file.

/** @typedef {{text: string, names: string[]}} Statement a statement of a file, and the names that it binds */
/** @typedef {{name: string, isKeyword: boolean, hasDefault: boolean}} Parameter */
/** @typedef {{program: string, about: string, missing: string[]}} BreakProgram */

const identifier = /[\p{L}_][\p{L}\p{N}_]*/gu;
const literal = /^(?:-?\d[\d.e+-]*|True|False|None|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\([-\d\s.,e+]*\))$/;
const isGuardOfMain = (/** @type {string} */ text) => /^if __name__\b/.test(text);
const isOnlyBinding = (/** @type {string} */ text) => /^(@|import |from |def |async def |class |[\p{L}_][^=("']*=(?!=)|"""|''')/u.test(text);
/** The words are joined here for the same reason as in reproduction.js. */
const compileOf = ["torch", "compile"].join(".");

/**
 * Returns the row behind the statement that begins at row `first`. Rows are counted from 0.
 * @param {string[]} rows @param {string[]} spans the coloured spans of the rows @param {number} first
 */
function endOfStatement(rows, spans, first) {
  const indent = indentOf(rows[first]);
  let isDecorated = rows[first].trimStart().startsWith("@");
  let end = first + 1;
  for (let index = first + 1; index < rows.length; index += 1) {
    const text = rows[index].trimStart();
    if (!isWithinString(spans[index]) && text !== "" && !text.startsWith("#") && indentOf(rows[index]) <= indent) {
      const isContinued = indentOf(rows[index]) === indent && /^([)\]}]|(else|elif|except|finally)\b)/.test(text);
      if (!isContinued && !isDecorated) break;
      if (isDecorated && !text.startsWith("@")) isDecorated = false;
    }
    if (text !== "" && (indentOf(rows[index]) > indent || !text.startsWith("#"))) end = index + 1;
  }
  return end;
}

/**
 * Returns the names that a statement binds in its module.
 * @param {string} text @returns {string[]}
 */
function namesBoundBy(text) {
  /** @type {string[]} */
  const names = [];
  for (const [, imported] of text.matchAll(/^[ \t]*(?:from\s+[\w.]+\s+)?import\s+(\([^)]*\)|[^\n#]*)/gm))
    for (const item of imported.replace(/[()]/g, "").split(",")) names.push(item.trim().replace(/^.* as /, "").split(".")[0]);
  for (const [, name] of text.matchAll(/^[ \t]*(?:async\s+)?(?:def|class)\s+([\p{L}_][\p{L}\p{N}_]*)/gmu)) names.push(name);
  for (const [, targets] of text.matchAll(/^[ \t]*([\p{L}_][\p{L}\p{N}_, ]*)(?::[^=\n]*)?=(?!=)/gmu)) names.push(...(targets.match(identifier) || []));
  return names;
}

/**
 * Returns the statements of a module, by the row at which each begins. Rows are counted from 0.
 * @param {string[]} rows @param {string[]} spans the coloured spans of the rows
 * @returns {Map<number, Statement & {end: number}>}
 */
function statementsOf(rows, spans) {
  /** @type {Map<number, Statement & {end: number}>} */
  const statements = new Map();
  for (let index = 0; index < rows.length; ) {
    const text = rows[index];
    if (isWithinString(spans[index]) || text.trim() === "" || text.startsWith("#")) {
      index += 1;
      continue;
    }
    const end = endOfStatement(rows, spans, index);
    const whole = rows.slice(index, end).join("\n");
    statements.set(index, { text: whole, names: /^(def|async def|class|@)/.test(text) ? namesBoundBy(whole).slice(0, 1) : namesBoundBy(whole), end });
    index = end;
  }
  return statements;
}

/**
 * Returns the parameters of the function whose definition begins at row `first`, counted from 0; null if the definition
 * cannot be parsed.
 * @param {string[]} rows @param {number} first @returns {Parameter[] | null}
 */
function parametersOf(rows, first) {
  const text = rows.slice(first, first + 60).join("\n").replace(/#[^\n]*/g, "");
  const head = /(?:^|\n)[ \t]*(?:async\s+)?def\s+[\p{L}_][\p{L}\p{N}_]*\s*\(/u.exec(text);
  if (!head) return null;
  /** @type {string[]} */
  const parts = [""];
  let depth = 1;
  for (let at = head.index + head[0].length; at < text.length && depth > 0; at += 1) {
    const character = text[at];
    if ("([{".includes(character)) depth += 1;
    if (")]}".includes(character)) depth -= 1;
    if (character === "," && depth === 1) parts.push("");
    else if (depth > 0) parts[parts.length - 1] += character;
  }
  if (depth > 0) return null;
  let isKeyword = false;
  /** @type {Parameter[]} */
  const parameters = [];
  for (const part of parts.map((item) => item.trim()).filter((item) => item && item !== "/")) {
    if (part.startsWith("*")) isKeyword = true;  // Parameters behind the `*` are passed by name.
    else parameters.push({ name: part.split(/[:=\s]/)[0], isKeyword, hasDefault: part.includes("=") });
  }
  return parameters;
}

/**
 * Returns an expression for the value of a parameter in the recorded call; null if the value is unknown.
 * @param {string} name @param {GraphInput[]} inputs
 * @param {Limit[]} limits the guards of the function and of its resume functions, which have the guards of the
 * parameters that only they use
 */
function valueOfParameter(name, inputs, limits) {
  const input = inputs.find((candidate) => candidate.name === "L_" + name + "_");
  if (input) return inputExpression(input, false);
  for (const { subject, condition } of limits) {
    if (subject !== name) continue;
    const value = condition.startsWith(name + " == ") ? condition.slice(name.length + 4) : condition.startsWith(name + " is ") ? condition.slice(name.length + 4) : "";
    if (literal.test(value)) return value;
  }
  return null;
}

/**
 * Returns the compilation that begins at the first statement of the function in which a graph break is; undefined if
 * there is none. The compilations of resume functions begin in the middle of the function.
 * @param {Process} process @param {Compilation} compilation
 */
function wholeFunctionOf(process, compilation) {
  if (!compilation.isResume) return compilation;
  const candidates = process.compilations.filter((candidate) => !candidate.isResume && candidate.name === compilation.name && candidate.line >= 0);
  return candidates.find((candidate) => fileNumberOfLine(candidate.line) === fileNumberOfLine(compilation.line));
}

/**
 * Returns the statements that a text needs directly or indirectly, in the order of the file.
 * @param {Statement[]} statements @param {string} text
 */
function neededStatements(statements, text) {
  const used = new Set(text.match(identifier) || []);
  const needed = new Set(statements.filter((statement) => /^from .* import \*/.test(statement.text)));
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false;
    for (const statement of statements) {
      if (needed.has(statement) || isGuardOfMain(statement.text) || !statement.names.some((name) => used.has(name))) continue;
      needed.add(statement);
      for (const name of statement.text.match(identifier) || []) used.add(name);
      hasGrown = true;
    }
  }
  return statements.filter((statement) => needed.has(statement));
}

/** Removes the decorators that would compile a function a second time, with another backend. */
const withoutCompiling = (/** @type {string} */ text) => text.replace(new RegExp("^[ \\t]*@" + compileOf.replace(".", "\\.") + "(\\([^()\\n]*\\))?[ \\t]*(#.*)?\\n", "gm"), "");

/** Returns the rows of a text as a comment. No text can end the comment. */
const asComment = (/** @type {string} */ text) => visible(text).split("\n").map((row) => ("# " + row).trimEnd());

/** True if a file does more than define names when it runs. */
const isScript = (/** @type {Statement[]} */ statements) => statements.some((statement) => isGuardOfMain(statement.text) || !isOnlyBinding(statement.text));

/**
 * Returns the names of the user's modules that a text imports. The program does not contain the files of these modules.
 * @param {string} text @param {number} file
 */
function ownImports(text, file) {
  const modules = new Set([...text.matchAll(/^[ \t]*(?:from|import)[ \t]+(\.*[\w.]*)/gm)].map(([, name]) => name));
  return [...modules].filter((name) => name.startsWith(".") || data.files.some((candidate, number) => number !== file && !candidate.isFramework && candidate.name === name.split(".").slice(-1)[0] + ".py"));
}

/**
 * Returns the whole file as a program that prints its graph breaks.
 * @param {string[]} comment @param {string} text
 */
function wholeFile(comment, text) {
  const rows = text.split("\n");
  const future = rows.reduce((last, row, index) => (/^from __future__ /.test(row) ? index + 1 : last), 0);
  return [...comment, ...rows.slice(0, future), importTorch, "", printBreaks, "", ...rows.slice(future)].join("\n");
}
const printBreaks = ["torch", "_logging.set_logs(graph_breaks=True)  # prints each graph break, with its reason and its line"].join(".");

/**
 * Returns the expression for the compiled function, and the rows that must precede it; null if the function has free
 * variables, or if its class cannot be instantiated without arguments.
 * @param {string[]} rows @param {number} first the first row of the function @param {Statement} statement the statement
 * that contains the function
 */
function calleeOf(rows, first, statement) {
  const definition = /def\s+([\p{L}_][\p{L}\p{N}_]*)/u.exec(rows.slice(first).join("\n"));
  if (!definition) return null;
  if (indentOf(rows[first]) === 0) return { callee: definition[1], setUp: [], isMethod: false };
  // A nested function has free variables, whose values are unknown.
  if (!/^class\s/m.test(statement.text) || indentOf(rows[first]) > 4) return null;
  const members = statement.text.split("\n");
  const start = members.findIndex((row) => /^\s+def __init__\(/.test(row));
  const parameters = start < 0 ? [] : parametersOf(members, start);
  if (!parameters || parameters.slice(1).some((parameter) => !parameter.hasDefault)) return null;
  return { callee: "instance." + definition[1], setUp: ["instance = " + statement.names[0] + "()"], isMethod: true };
}

/**
 * Returns what is known about a graph break in a file without recorded source: the lines that the record quotes, and
 * the inputs of the graph. Returns null if the record has neither.
 * @param {Process} process @param {Compilation} compilation @param {Break} item @returns {BreakProgram | null}
 */
function quotedLines(process, compilation, item) {
  const { name, quoted } = fileOfLine(compilation.line);
  const rows = Object.keys(quoted).map(Number).filter((row) => row >= rowOfLine(compilation.line) && quoted[row]).sort((a, b) => a - b);
  const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
  const graph = pane && graphOfText(data.texts[pane.text]);
  if (!rows.length && !graph) return null;
  const program = [
    ...headOfProgram(process, item),
    ...asComment("This program does not run as it is: the record has only these lines of " + name + "."),
    "", importTorch, "", ...rows.map((row) => quoted[row] + "  # " + name + ":" + row),
    "", ...(graph ? ["# The graph before the break has these inputs:", ...graph.inputs.flatMap((input) => asComment(input.name + ": " + input.annotation))] : ["# The inputs of the graph before the break are not recorded."]), "",
  ].join("\n");
  return { program, about: "The record does not contain the source of this file, only the lines below.", missing: ["the rest of " + name] };
}

/** @param {Process} process @param {Break} item */
function headOfProgram(process, item) {
  return asComment("The graph break at " + item.where + (process.torch ? ", seen by PyTorch " + process.torch : "") + ". Written by " + data.tool + ".\n" + item.sentence);
}

/**
 * Returns the program of a graph break; null if nothing about its function is known, or if the page is redacted.
 * @param {Process} process @param {Break} item @returns {BreakProgram | null}
 */
function programOfBreak(process, item) {
  const compilation = item.compilations.length ? wholeFunctionOf(process, process.compilations[item.compilations[0]]) : undefined;
  if (data.isRedacted || !compilation || compilation.line < 0) return null;
  if (fileOfLine(compilation.line).text < 0) return quotedLines(process, compilation, item);
  const file = fileNumberOfLine(compilation.line);
  const rows = rowsOfText(data.files[file].text);
  const first = rowOfLine(compilation.line) - 1;
  const spans = spansOfText(data.files[file].text);
  const statements = statementsOf(rows, spans);
  const start = [...statements.keys()].find((row) => row <= first && first < (statements.get(row)?.end ?? 0));
  const holder = start === undefined ? undefined : statements.get(start);
  if (!holder || rows[first] === undefined) return null;
  const callee = calleeOf(rows, first, holder);
  const parameters = parametersOf(rows, first);
  const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
  const graph = pane && graphOfText(data.texts[pane.text]);
  const parts = process.compilations.filter((candidate) => candidate.isResume && candidate.name === compilation.name);
  const limits = [compilation, ...parts].flatMap((part) => part.limits);
  const values = (parameters || []).slice(callee && callee.isMethod ? 1 : 0).map((parameter) => ({ parameter, value: valueOfParameter(parameter.name, graph ? graph.inputs : [], limits) }));
  const unknown = values.filter(({ parameter, value }) => value === null && !parameter.hasDefault).map(({ parameter }) => parameter.name);
  const comment = headOfProgram(process, item);
  if (!callee || !parameters || unknown.length) {
    const text = rows.join("\n") + "\n";
    if (!isScript([...statements.values()])) {
      const lacking = unknown.length ? "the values of " + unknown.join(", ") : "an instance of the class, or the values of the free variables";
      const source = rows.slice(first, endOfStatement(rows, spans, first)).join("\n");
      return { program: [...comment, ...asComment("This program does not run as it is: it lacks " + lacking + "."), "", importTorch, "", source, ""].join("\n"), about: "The program contains only the function, because the call with the graph break is not recorded.", missing: [lacking] };
    }
    return { program: wholeFile([...comment, ""], text), about: "The program is the whole file, because the inputs of the function are not recorded. It prints each graph break.", missing: ownImports(text, file).map((name) => "your module " + name) };
  }
  const needed = neededStatements([...statements.values()], holder.text).map((statement) => withoutCompiling(statement.text)).filter((text) => text !== importTorch);
  const future = needed.filter((text) => text.startsWith("from __future__ "));
  const known = values.filter(({ value }) => value !== null);
  const isPassedByName = (/** @type {number} */ index) => known.length < values.length && values.slice(0, index).some(({ value }) => value === null);
  const passed = values.flatMap(({ parameter, value }, index) => (value === null ? [] : [(parameter.isKeyword || isPassedByName(index) ? parameter.name + "=" : "") + value]));
  const program = [
    ...comment, "", ...future, importTorch, "", needed.filter((text) => !future.includes(text)).join("\n\n"), "", "", printBreaks, ...callee.setUp,
    ...sizesOfInputs(compilation, known.flatMap(({ parameter }) => graph?.inputs.filter(({ name }) => name === "L_" + parameter.name + "_") || [])),
    compileOf + "(" + callee.callee + ', backend="eager")(' + passed.join(", ") + ")", "",
  ].join("\n");
  return { program, about: "The program contains the function and the definitions that the function needs, and calls it with inputs of the recorded shapes. It prints each graph break.", missing: ownImports(needed.join("\n"), file).map((name) => "your module " + name) };
}
