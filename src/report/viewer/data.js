// Describes the data of the page, which src/page/data.cpp writes, and answers what the views ask about it.

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
 * The rows that two texts share, as (row of `from`, row of `to`, count), rows from 0. `from` is a pane of `compilation`.
 * @typedef {{compilation: number, from: number, to: number, same: number[]}} Difference
 */
/** @typedef {{name: string, shape: string, bytes: number | null, isInput: boolean, line: number}} Saved */
/**
 * A row of a text: [row, name, text of the reason or -1, last row, numbers of lines...].
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
 * @property {number} functions of the user's, without those that go on after a break @property {number} eager those that do not run compiled
 * @property {string} python @property {boolean} isCut @property {boolean} isLog @property {string[]} notes
 * @property {Problem[]} problems @property {Break[]} breaks @property {Phase[]} phases
 * @property {Compilation[]} compilations @property {TimelineEvent[]} events @property {Costs} costs
 */
/** @typedef {{kind: string, change: string, compilations: string[], us: number, ofUs: number, line: number}} Saving */
/**
 * Where the time of compiling went.
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
 * What the run does otherwise than an earlier one.
 * @typedef {object} Changes
 * @property {string} before @property {string} after @property {number} functions that both runs compiled
 * @property {Change[]} items @property {string[]} notCompared @property {string[]} timings
 */
/** @typedef {{kind: string, line: number, value: number, unit: string, text: string, isAlarm: boolean}} Measurement */
/** @typedef {{processes: number[], nearest: number, partsAt: string, difference: string}} RankGroup */
/**
 * @typedef {object} PageData
 * @property {number} version @property {string} tool @property {string} command @property {boolean} isRedacted
 * @property {Process[]} processes
 * @property {Measurement[]} measurements of lines, which belong to no process
 * @property {Changes | null} changes null: the page is about one run
 * @property {RankGroup[]} ranks @property {SourceFile[]} files @property {number[]} lines @property {string[]} texts
 * @property {string[]} highlights by the number of the text, as src/page/highlight.h says
 */

/**
 * Filled before any view is shown.
 * @type {PageData}
 */
let data = { version: 0, tool: "", command: "", isRedacted: false, processes: [], measurements: [], changes: null, ranks: [], files: [], lines: [], texts: [], highlights: [] };

/**
 * What is shown where there was nothing to read.
 * @type {Process}
 */
const emptyProcess = {
  log: "", pid: null, rank: null, torch: "", functions: 0, eager: 0, python: "", isCut: false, isLog: false,
  notes: ["There was nothing to read: no dump of depyf and no log."], problems: [], breaks: [], phases: [], compilations: [], events: [],
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

/** Reads the data out of the page; that of large pages is compressed. */
async function readData() {
  const element = /** @type {HTMLScriptElement} */ (document.getElementById("data"));
  let text = element.textContent || "";
  if (element.type === "application/gzip") {
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
    // The types that tsc knows are older than DecompressionStream.
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

/** The stages in the order in which they are made: key, title, what it is. */
const stageInfo = {
  source: ["Source", "Your source code"],
  code: ["Transformed code", "The code that runs in place of the function where its guards hold"],
  guards: ["Guards", "The conditions under which this compilation is used again"],
  captured: ["Captured graph", "The graph that Dynamo captured, in your own torch functions"],
  pre_grad_before: ["Before pre-grad passes", "The captured graph as Inductor gets it"],
  pre_grad: ["After pre-grad passes", "The captured graph after Inductor's pre-grad passes"],
  joint: ["Joint graph", "Forward and backward in one graph, in ATen operators"],
  forward: ["Forward graph", "The forward half, in ATen operators"],
  backward: ["Backward graph", "The backward half, in ATen operators"],
  post_grad_before: ["Before post-grad passes", "One direction as Inductor gets it from AOTAutograd"],
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
 * The rows of a text.
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
 * The text of a line of source; empty if it is unknown.
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
 * The number of a line of a file; -1 if nothing refers to it.
 * @param {number} file
 * @param {number} row
 */
const lineAt = (file, row) => lineNumbers.get(file + ":" + row) ?? -1;

/**
 * The key of a pane in addresses: "post", "post-bw", "fw".
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
 * The texts of a compilation by their keys, in the order of the stages.
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
 * Compilations with the same key are entries of one cache, from which a call takes the first whose guards hold. Two functions that
 * go on after one break, one for each branch, have one title and numbers of their own.
 * @param {Compilation} compilation
 */
const functionKey = (compilation) => compilation.title + "\n" + compilation.id.replace(/\/\d+$/, "");

/**
 * The lines of a file as ranges, such as `5-7, 12`.
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

/** The number of processes in words. Blocks of one dump are runs, and anything else is processes. */
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
 * What became of a line in one compilation: the names of its nodes and kernels by pane.
 * @param {Compilation} compilation @returns {Map<number, Map<string, Set<string>>>}
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

/** What the record knows of a line of source in one process. */
class LineFacts {
  constructor() {
    /**
     * Compilations that have the line in a graph.
     * @type {Set<number>}
     */
    this.inGraph = new Set();
    /**
     * Compilations of the function that begins here.
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
/** @param {Process} process @returns {Map<number, LineFacts>} by the number of the line */
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
