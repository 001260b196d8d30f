// Describes the data of the page, which src/page/data.cpp writes, and contains the functions with which the views query
// the data.

/** @typedef {{offset: number, message: string}} Problem */
/** @typedef {{name: string, totalUs: number, selfUs: number, count: number, isParallel: boolean}} Phase */
/**
 * @typedef {object} Break
 * @property {string} where @property {string} sentence @property {string} reason @property {string} explanation
 * @property {string[]} hints @property {string} link @property {number} line @property {string} source
 * @property {number[]} compilations @property {number} seconds
 */
/**
 * @typedef {object} Failure
 * @property {string} of @property {string} guard @property {string} subject @property {string} expected
 * @property {string} actual @property {string} origin @property {string[]} alike @property {string[]} follows
 * @property {number} line
 */
/** @typedef {{condition: string, subject: string, why: string, line: number}} Limit */
/**
 * @typedef {object} Call
 * @property {string} kernel @property {string} kind @property {string} direction @property {number} row
 * @property {string[]} reads @property {string[]} writes @property {number | null} bytesRead
 * @property {number | null} bytesWritten @property {[string, string][]} nodes @property {number[]} lines
 * @property {string} evidence @property {string} why @property {string[]} captured
 */
/** @typedef {{name: string, start: number, duration: number, compilation: number, isParallel: boolean}} TimelineEvent */
/** @typedef {{name: string, direction: string, bytes: number | null, isOutput: boolean}} BufferSize */
/** @typedef {{direction: string, first: string, second: string, why: string}} NotFused */
/**
 * A comparison of two panes: the pane `from` of the compilation with the index `compilation`, and the pane `to` of the
 * compilation that contains the comparison. `same` lists the runs of equal rows, with three numbers for each run: its
 * first row in `from`, its first row in `to`, and the number of its rows. Rows are counted from 0.
 * @typedef {{compilation: number, from: number, to: number, same: number[]}} Difference
 */
/** @typedef {{name: string, shape: string, bytes: number | null, isInput: boolean, line: number}} Saved */
/**
 * A definition in a text: [first row, name, number of the text that states why no line of source is known or -1, last
 * row, numbers of lines of source...].
 * @typedef {any[]} RawRow
 */
/** @typedef {{stage: string, direction: string, name: string, text: number, rows: RawRow[]}} RawPane */
/**
 * @typedef {object} Compilation
 * @property {string} id @property {string} title @property {string} name @property {string} status
 * @property {boolean} isResume @property {boolean} wasBefore @property {boolean | null} isProved
 * @property {string} whyNotProved @property {number} line @property {number[]} calledFrom @property {number} attempts
 * @property {string[]} restartReasons @property {number} seconds @property {number} backwardSeconds
 * @property {number} startUs @property {number | null} guards @property {string} headline @property {string[]} details
 * @property {string[]} reasons @property {string} deciding @property {Failure[]} failures @property {number[]} breaks
 * @property {string[]} resumeNames @property {string[]} resumeCalls @property {Limit[]} limits
 * @property {string[]} symbols @property {string[]} atRunTime @property {string[]} guardTime
 * @property {{kind: string, direction: string, why: string}[]} missing @property {string[]} notes
 * @property {Difference[]} differences @property {BufferSize[]} buffers @property {NotFused[]} notFused @property {{cache: string, result: string, key: string}[]} caches
 * @property {Phase[]} phases @property {[string, string, string, number][]} nodes @property {Call[]} calls
 * @property {Saved[]} saved @property {RawPane[]} panes
 */
/**
 * @typedef {object} Process
 * @property {string} log @property {number | null} pid @property {number | null} rank @property {string} torch
 * @property {number} functions the number of the user's functions, without resume functions
 * @property {number} eager the number of functions that do not run compiled, or not for every call
 * @property {string} python @property {boolean} isCut @property {boolean} isLog @property {string[]} notes
 * @property {Problem[]} problems @property {Break[]} breaks @property {Phase[]} phases
 * @property {Compilation[]} compilations @property {TimelineEvent[]} events @property {Costs} costs
 */
/** @typedef {{kind: string, change: string, compilations: string[], us: number, ofUs: number, line: number}} Saving */
/**
 * The time of compilation by part of the compiler, and the changes of the program that would reduce the time.
 * @typedef {object} Costs
 * @property {number} wallUs @property {number} restartsUs @property {number} compilersUs @property {number} compiledFiles
 * @property {{part: string, us: number}[]} parts @property {Saving[]} savings
 */
/**
 * @typedef {object} SourceFile
 * @property {string} path @property {string} name @property {boolean} isFramework @property {number} text
 * @property {string} why @property {Record<string, string>} quoted
 */
/** @typedef {{code: string, weight: string, function: string, line: number, sentence: string, details: string[]}} Change */
/**
 * The differences between this run and an earlier run.
 * @typedef {object} Changes
 * @property {string} before @property {string} after
 * @property {number} functions the number of functions that both runs compiled
 * @property {Change[]} items @property {string[]} notCompared @property {string[]} timings
 */
/** @typedef {{kind: string, line: number, value: number, unit: string, text: string, isAlarm: boolean}} Measurement */
/** @typedef {{processes: number[], nearest: number, partsAt: string, difference: string}} RankGroup */
/**
 * @typedef {object} PageData
 * @property {number} version @property {string} tool @property {string} command @property {boolean} isRedacted
 * @property {Process[]} processes
 * @property {Measurement[]} measurements the measurements of lines, which belong to no process
 * @property {Changes | null} changes the comparison with an earlier run; null if the page is about a single run
 * @property {RankGroup[]} ranks @property {SourceFile[]} files @property {number[]} lines @property {string[]} texts
 * @property {string[]} highlights the coloured spans of each text, in the order of `texts`; src/page/highlight.h
 * describes the format
 */

/**
 * The data of the page, which is filled before any view is shown.
 * @type {PageData}
 */
let data = { version: 0, tool: "", command: "", isRedacted: false, processes: [], measurements: [], changes: null, ranks: [], files: [], lines: [], texts: [], highlights: [] };

/**
 * The process that the views show if the report has no process.
 * @type {Process}
 */
const emptyProcess = {
  log: "", pid: null, rank: null, torch: "", functions: 0, eager: 0, python: "", isCut: false, isLog: false,
  notes: ["There was nothing to read: neither a dump of depyf nor a log was given."], problems: [], breaks: [], phases: [], compilations: [], events: [],
  costs: { wallUs: 0, restartsUs: 0, compilersUs: 0, compiledFiles: 0, parts: [], savings: [] },
};

/**
 * @param {number[]} numbers
 * @returns {TimelineEvent[]}
 */
function readEvents(numbers) {
  /** @type {TimelineEvent[]} */
  const events = [];
  for (let at = 0; at < numbers.length; at += 5)
    events.push({
      name: data.texts[numbers[at]],
      start: numbers[at + 1],
      duration: numbers[at + 2],
      compilation: numbers[at + 3],
      isParallel: numbers[at + 4] === 1,
    });
  return events;
}

/** Reads the data from the page. The data of a large page is compressed. */
async function readData() {
  const element = /** @type {HTMLScriptElement} */ (document.getElementById("data"));
  let text = element.textContent || "";
  if (element.type === "application/gzip") {
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
    // The type declarations of tsc are older than DecompressionStream.
    const { DecompressionStream: Unpacking } = /** @type {any} */ (globalThis);
    const stream = new Blob([bytes]).stream().pipeThrough(new Unpacking("gzip"));
    text = await new Response(stream).text();
  }
  element.textContent = "";
  data = JSON.parse(text);
  for (const process of data.processes) process.events = readEvents(/** @type {any} */ (process.events));
  for (let line = 0; 2 * line < data.lines.length; line += 1)
    lineNumbers.set(data.lines[2 * line] + ":" + data.lines[2 * line + 1], line);
}

/** The title and the description of each stage, in the order in which the compiler produces the stages. */
const stageInfo = {
  source: ["Source", "Your source code"],
  code: ["Transformed code", "The code that runs instead of the function if the guards hold"],
  guards: ["Guards", "The conditions under which this compilation is used again"],
  captured: ["Captured graph", "The graph that Dynamo captured, with the torch functions that your code calls"],
  pre_grad_before: ["Before pre-grad passes", "The captured graph as Inductor receives it"],
  pre_grad: ["After pre-grad passes", "The captured graph after Inductor's pre-grad passes"],
  joint: ["Joint graph", "Forward and backward in one graph, in ATen operators"],
  forward: ["Forward graph", "The forward half, in ATen operators"],
  backward: ["Backward graph", "The backward half, in ATen operators"],
  post_grad_before: ["Before post-grad passes", "The graph of one direction as Inductor receives it from AOTAutograd"],
  post_grad: ["After post-grad passes", "The graph after Inductor's post-grad passes"],
  ir_before: ["IR before fusion", "Inductor's IR before fusion"],
  ir: ["IR after fusion", "Inductor's IR after fusion"],
  kernel: ["Kernels", "Inductor's output code: kernels, and the code that calls them"],
};
const shortStages = /** @type {Record<string, string>} */ ({
  pre_grad_before: "pre-before", pre_grad: "pre", forward: "fw", backward: "bw", post_grad_before: "post-before",
  post_grad: "post", ir_before: "ir-before",
});

/** @param {number} line the number of a line @returns {SourceFile} */
const fileOfLine = (line) => data.files[data.lines[2 * line]];
/** @param {number} line */
const fileNumberOfLine = (line) => data.lines[2 * line];
/** @param {number} line */
const rowOfLine = (line) => data.lines[2 * line + 1];
/** @param {number} line */
const placeOfLine = (line) => (line < 0 ? "" : fileOfLine(line).name + ":" + rowOfLine(line));

/** @type {Map<number, string[]>} */
const splitTexts = new Map();
/**
 * Returns the rows of a text.
 * @param {number} text
 * @returns {string[]}
 */
function rowsOfText(text) {
  let rows = splitTexts.get(text);
  if (!rows) {
    rows = data.texts[text].split("\n");
    if (rows.length > 1 && rows[rows.length - 1] === "") rows.pop();
    splitTexts.set(text, rows);
  }
  return rows;
}

/**
 * Returns the text of a line of source without its indentation; empty if the text is unknown.
 * @param {number} line
 */
function textOfLine(line) {
  if (line < 0) return "";
  const file = fileOfLine(line);
  const text = file.text < 0 ? file.quoted[rowOfLine(line)] : rowsOfText(file.text)[rowOfLine(line) - 1];
  return (text || "").trim();
}

/** @type {Map<string, number>} */
const lineNumbers = new Map();
/**
 * Returns the number of the line at row `row` of a file; -1 if nothing refers to the line.
 * @param {number} file
 * @param {number} row
 */
const lineAt = (file, row) => lineNumbers.get(file + ":" + row) ?? -1;

/**
 * Returns the key of a pane in addresses, such as "post", "post-bw" or "fw".
 * @param {RawPane} pane
 */
function keyOfPane(pane) {
  const short = shortStages[pane.stage] || pane.stage;
  return pane.direction === "backward" && pane.stage !== "backward" ? short + "-bw" : short;
}

/** @param {{stage: string, direction: string}} pane */
function titleOfPane(pane) {
  const [title] = stageInfo[/** @type {keyof typeof stageInfo} */ (pane.stage)] || [pane.stage];
  if (pane.stage === "forward" || pane.stage === "backward" || !pane.direction) return title;
  return title + ", " + pane.direction;
}

/**
 * Returns the panes of a compilation by their keys, in the order of the stages. The backward direction comes last.
 * @param {Compilation} compilation
 */
function panesOf(compilation) {
  const order = Object.keys(stageInfo);
  const sorted = compilation.panes
    .map((pane, index) => ({ pane, index }))
    .sort((a, b) => {
      const isLate = (/** @type {RawPane} */ pane) => Number(pane.direction === "backward");
      return (
        isLate(a.pane) - isLate(b.pane) || order.indexOf(a.pane.stage) - order.indexOf(b.pane.stage) || a.index - b.index
      );
    });
  /** @type {Map<string, RawPane>} */
  const panes = new Map();
  for (const { pane } of sorted) {
    const key = keyOfPane(pane);
    let unique = key;
    for (let again = 2; panes.has(unique); again += 1) unique = key + "-" + again;
    panes.set(unique, pane);
  }
  return panes;
}

/** @param {Compilation} compilation */
const isCompiled = (compilation) => compilation.status === "compiled";
/** @param {Compilation} compilation */
const isAgain = (compilation) => isCompiled(compilation) && compilation.deciding !== "";
/** @param {Compilation} compilation */
const secondsOf = (compilation) => compilation.seconds + compilation.backwardSeconds;
/**
 * Returns a key that all compilations of a function share. They are entries of one cache, from which a call takes the
 * first entry whose guards hold. The key includes the number of the function, because the two resume functions of a
 * graph break, one for each branch, have the same title.
 * @param {Compilation} compilation
 */
const functionKey = (compilation) => compilation.title + "\n" + compilation.id.replace(/\/\d+$/, "");

/**
 * Returns the rows as ranges, such as `5-7, 12`.
 * @param {number[]} rows
 */
function rangesOf(rows) {
  /** @type {[number, number][]} */
  const ranges = [];
  for (const row of [...new Set(rows)].sort((a, b) => a - b)) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] === row - 1) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : from + "\u2013" + to)).join(", ");
}

/** Returns the number of processes with a noun. The blocks of one dump are called runs, all others processes. */
function processesInWords() {
  const areRuns = data.processes.every((process) => !process.isLog && process.rank === null && process.pid === null);
  return counted(data.processes.length, areRuns ? "run" : "process");
}

/** @param {Process} process */
function nameOfProcess(process) {
  if (process.rank !== null) return "rank " + process.rank;
  if (process.pid !== null) return "process " + process.pid;
  return process.isLog ? process.log.replace(/^.*\//, "") : "run " + (1 + data.processes.filter((other) => !other.isLog).indexOf(process));
}

/**
 * Returns the names of the nodes and kernels that come from each line of source, by the key of the pane.
 * @param {Compilation} compilation @returns {Map<number, Map<string, Set<string>>>} by the number of the line
 */
function trailsOf(compilation) {
  /** @type {Map<number, Map<string, Set<string>>>} */
  const trails = new Map();
  for (const [key, pane] of panesOf(compilation)) {
    if (pane.stage === "guards" || pane.stage === "code") continue;
    for (const row of pane.rows) {
      for (let at = 4; at < row.length; at += 1) {
        let trail = trails.get(row[at]);
        if (!trail) trails.set(row[at], (trail = new Map()));
        const names = trail.get(key);
        if (names) names.add(row[1]);
        else trail.set(key, new Set([row[1]]));
      }
    }
  }
  return trails;
}

/** The information that the record contains about a line of source in one process. */
class LineFacts {
  constructor() {
    /**
     * The compilations whose graphs contain the line.
     * @type {Set<number>}
     */
    this.inGraph = new Set();
    /**
     * The compilations of the function that begins at the line.
     * @type {number[]}
     */
    this.begins = [];
    /** @type {number[]} */
    this.breaks = [];
    /** @type {{compilation: number, limit: Limit}[]} */
    this.limits = [];
    /** @type {{compilation: number, failure: Failure}[]} */
    this.failures = [];
    /** @type {{compilation: number, call: Call}[]} */
    this.calls = [];
    /** @type {{compilation: number, name: string, operator: string, module: string}[]} */
    this.nodes = [];
    /** @type {{compilation: number, saved: Saved}[]} */
    this.saved = [];
    /** @type {Measurement[]} */
    this.measured = [];
  }
}

/** @type {Map<Process, Map<number, LineFacts>>} */
const factsOfProcesses = new Map();
/** @param {Process} process @returns {Map<number, LineFacts>} the facts of each line, by the number of the line */
function factsOf(process) {
  const known = factsOfProcesses.get(process);
  if (known) return known;
  /** @type {Map<number, LineFacts>} */
  const facts = new Map();
  /** @param {number} line */
  const of = (line) => {
    let entry = facts.get(line);
    if (!entry) facts.set(line, (entry = new LineFacts()));
    return entry;
  };
  process.breaks.forEach((item, index) => item.line >= 0 && of(item.line).breaks.push(index));
  process.compilations.forEach((item, compilation) => {
    if (item.line >= 0) of(item.line).begins.push(compilation);
    for (const [name, operator, module, line] of item.nodes) {
      if (line < 0) continue;
      of(line).inGraph.add(compilation);
      of(line).nodes.push({ compilation, name, operator, module });
    }
    for (const limit of item.limits) if (limit.line >= 0) of(limit.line).limits.push({ compilation, limit });
    for (const failure of item.failures) if (failure.line >= 0) of(failure.line).failures.push({ compilation, failure });
    for (const call of item.calls) for (const line of call.lines) of(line).calls.push({ compilation, call });
    for (const saved of item.saved) if (saved.line >= 0) of(saved.line).saved.push({ compilation, saved });
  });
  for (const measurement of data.measurements) if (measurement.line >= 0) of(measurement.line).measured.push(measurement);
  factsOfProcesses.set(process, facts);
  return facts;
}
