// Shows how the time of compilation was spent: a flame chart of PyTorch's own events, with a row for each depth of
// nesting, and tables of the times.

const flameRow = 22;  // the height of a row in pixels
const flameTop = 20;  // the space above the first row in pixels, which holds the scale of time
const phasesShown = 40;  // how many phases are listed, beginning with the longest

/** @param {number} us */
const durationText = (us) => (us >= 1e6 ? (us / 1e6).toFixed(2) + " s" : us >= 1e3 ? (us / 1e3).toFixed(1) + " ms" : us.toFixed(0) + " \u00b5s");

/**
 * Returns the events with their rows in the chart. The events of worker threads are below all others.
 * @param {TimelineEvent[]} events
 */
function layEvents(events) {
  const sorted = [...events].sort((a, b) => Number(a.isParallel) - Number(b.isParallel) || a.start - b.start || b.duration - a.duration);
  /** @type {{event: TimelineEvent, row: number}[]} */
  const placed = [];
  /** @type {number[]} */
  let ends = [];
  let base = 0;
  let isParallel = false;
  for (const event of sorted) {
    if (event.isParallel && !isParallel) {
      base = ends.length + (ends.length ? 1 : 0);
      ends = [];
      isParallel = true;
    }
    // An event is drawn below the events that it is nested in, which have not ended when it begins.
    let row = 0;
    while (row < ends.length && ends[row] > event.start + 0.5) row += 1;
    if (!isParallel) for (let below = row; below < ends.length; below += 1) ends[below] = Math.min(ends[below], event.start);
    ends[row] = event.start + event.duration;
    placed.push({ event, row: base + row });
  }
  return { placed, rows: base + ends.length };
}

/** @param {HTMLElement} root */
function showTimeline(root) {
  const process = currentProcess();
  const page = make("div.page.wide", null, make("h1", null, "Timeline"));
  root.append(page);
  if (process.events.length) {
    page.append(make("p.lead", null, "The chart shows PyTorch's own events. Drag to move, scroll to zoom, and click an event to open its compilation."), flameChart(process));
  } else {
    page.append(make("p.lead", null, "The record has only the seconds of each compilation. PyTorch's events are in the dump of a block that has ended, and in a log that PyTorch writes if TORCH_TRACE=DIR is set."));
  }
  page.append(costsSection(process), phaseTable(process));
}

/** A chart of the events of a process by depth of nesting. It shows the part of the time that the user has chosen. */
class FlameChart {
  /** @param {Process} process */
  constructor(process) {
    this.process = process;
    const { placed, rows } = layEvents(process.events);
    this.placed = placed;
    this.from = Math.min(...process.events.map((event) => event.start));
    this.to = Math.max(...process.events.map((event) => event.start + event.duration));
    this.left = this.from;
    this.span = Math.max(1, this.to - this.from);
    this.names = [...new Set(process.events.map((event) => event.name))].sort();
    this.height = rows * flameRow + flameTop + 4;
    this.dragged = 0;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas.flame", { tabindex: 0, role: "img", "aria-label": "Flame chart of " + process.events.length + " events; the table below has their sums" }));
    this.canvas.style.height = this.height + "px";
    this.tip = make("div.flame-tip", { "aria-live": "polite" }, "\u00a0");
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Registers the listeners for the mouse and the keyboard. */
  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
    });
    canvas.addEventListener("mousemove", (event) => (event.buttons & 1 ? this.drag(event.movementX) : this.point(this.eventAt(event))));
    canvas.addEventListener("mousedown", () => (this.dragged = 0));
    canvas.addEventListener("click", (event) => {
      const hit = this.dragged < 4 && this.eventAt(event);
      if (hit && hit.event.compilation >= 0) go(withProcess({ c: compilationKey(hit.event.compilation) }));
    });
    canvas.addEventListener("keydown", (event) => {
      if (this.takeKey(event.key)) event.preventDefault();
    });
  }

  /** @param {string} key */
  takeKey(key) {
    const middle = this.left + this.span / 2;
    if (key === "+" || key === "=") this.zoom(0.7, middle);
    else if (key === "-") this.zoom(1.4, middle);
    else if (key === "ArrowLeft" || key === "ArrowRight") this.move((key === "ArrowLeft" ? -0.1 : 0.1) * this.span);
    else return false;
    return true;
  }

  /** @param {number} us */
  x(us) {
    return ((us - this.left) / this.span) * this.canvas.clientWidth;
  }

  /** @param {MouseEvent} mouse */
  timeAt(mouse) {
    const box = this.canvas.getBoundingClientRect();
    return this.left + ((mouse.clientX - box.left) / box.width) * this.span;
  }

  /** @param {MouseEvent} mouse */
  eventAt(mouse) {
    const us = this.timeAt(mouse);
    const row = Math.floor((mouse.clientY - this.canvas.getBoundingClientRect().top - flameTop) / flameRow);
    return this.placed.find((candidate) => candidate.row === row && candidate.event.start <= us && us <= candidate.event.start + candidate.event.duration);
  }

  /** @param {number} factor @param {number} around the time in microseconds that stays at its place */
  zoom(factor, around) {
    const wanted = Math.min(this.to - this.from, Math.max(10, this.span * factor));
    this.left = Math.min(this.to - wanted, Math.max(this.from, around - (around - this.left) * (wanted / this.span)));
    this.span = wanted;
    this.draw();
  }

  /** @param {number} us */
  move(us) {
    this.left = Math.min(this.to - this.span, Math.max(this.from, this.left + us));
    this.draw();
  }

  /** @param {number} pixels */
  drag(pixels) {
    this.dragged += Math.abs(pixels);
    this.move((-pixels / this.canvas.clientWidth) * this.span);
  }

  /**
   * Shows the name and the duration of the event under the mouse.
   * @param {{event: TimelineEvent} | undefined} hit
   */
  point(hit) {
    const compilation = hit && hit.event.compilation >= 0 ? this.process.compilations[hit.event.compilation] : null;
    const text = hit ? hit.event.name + ": " + durationText(hit.event.duration) + (compilation ? "  \u00b7  " + compilation.id + " " + compilation.title : "") + (hit.event.isParallel ? "  \u00b7  in a worker thread" : "") : "\u00a0";
    replaceContent(this.tip, text);
  }

  draw() {
    const canvas = this.canvas;
    const scale = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = this.height * scale;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const ground = style.getPropertyValue("--ground");
    const text = style.getPropertyValue("--text");
    context.fillStyle = ground;
    context.fillRect(0, 0, canvas.clientWidth, this.height);
    context.font = "11px " + style.getPropertyValue("--sans");
    context.fillStyle = style.getPropertyValue("--dim");
    this.drawScale(context);
    context.textBaseline = "middle";
    for (const { event, row } of this.placed) this.drawEvent(context, event, row, ground, text);
  }

  /** @param {CanvasRenderingContext2D} context */
  drawScale(context) {
    const step = 10 ** Math.floor(Math.log10(this.span / 3));
    const start = this.left - this.from;
    for (let at = Math.ceil(start / step) * step; at <= start + this.span; at += step) {
      context.fillRect(this.x(this.from + at), 0, 1, 5);
      context.fillText(at < step / 2 ? "0" : durationText(at), this.x(this.from + at) + 3, 11);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {TimelineEvent} event @param {number} row @param {string} ground @param {string} text */
  drawEvent(context, event, row, ground, text) {
    const start = Math.max(-1, this.x(event.start));
    const end = Math.min(this.canvas.clientWidth + 1, this.x(event.start + event.duration));
    if (end < 0 || start > this.canvas.clientWidth) return;
    const width = Math.max(1, end - start - 1);
    const y = flameTop + row * flameRow;
    context.globalAlpha = 1;
    context.fillStyle = ground;
    context.fillRect(start, y, width, flameRow - 2);
    context.globalAlpha = 0.28;
    context.fillStyle = hues[this.names.indexOf(event.name) % hues.length];
    context.fillRect(start, y, width, flameRow - 2);
    context.globalAlpha = 1;
    context.fillRect(start, y, width, 2);
    if (width < 34) return;
    context.save();
    context.beginPath();
    context.rect(start, y, width - 3, flameRow - 2);
    context.clip();
    context.fillStyle = text;
    context.fillText(visible(event.name), start + 4, y + flameRow / 2);
    context.restore();
  }
}

/** @param {Process} process */
function flameChart(process) {
  const chart = new FlameChart(process);
  const all = make("button", { onclick: () => chart.zoom((chart.to - chart.from) / chart.span + 1, chart.from) }, "All");
  const perfetto = make("button", { title: "Saves a file that ui.perfetto.dev and chrome://tracing can open", onclick: () => saveTrace(process) }, "Save for Perfetto");
  return make("section.flame-box", null, make("div.flame-head", null, chart.tip, all, perfetto), chart.canvas);
}

/**
 * Saves the events of a process to a file in the Trace Event Format.
 * @param {Process} process
 */
function saveTrace(process) {
  const traceEvents = process.events.map((event) => ({
    name: event.name,
    ph: "X",
    ts: event.start,
    dur: event.duration,
    pid: process.rank ?? process.pid ?? 0,
    tid: event.isParallel ? 1 : 0,
    args: event.compilation >= 0 ? { compilation: process.compilations[event.compilation].id, function: process.compilations[event.compilation].title } : {},
  }));
  const url = URL.createObjectURL(new Blob([JSON.stringify({ traceEvents })], { type: "application/json" }));
  const anchor = /** @type {HTMLAnchorElement} */ (make("a", { href: url, download: "torch_compile_trace.json" }));
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * Lists the time that each part of the compiler took, and the time that changes of the program would save.
 * @param {Process} process
 */
function costsSection(process) {
  const costs = process.costs;
  if (costs.wallUs <= 0) return "";
  const share = (/** @type {number} */ us) => ((100 * us) / costs.wallUs).toFixed(0) + " %";
  let text = "Compiling took " + durationText(costs.wallUs) + ": " + costs.parts.filter((part) => part.us >= 0.005 * costs.wallUs).map((part) => part.part + " " + share(part.us)).join(", ") + ".";
  if (costs.restartsUs > 0) text += " Tracing that began again: " + durationText(costs.restartsUs) + ".";
  if (costs.compilersUs > 0) text += " Compilers of C++ or Triton ran during " + durationText(costs.compilersUs) + ", on " + costs.compiledFiles + (costs.compiledFiles === 1 ? " file." : " files.");
  const rows = costs.savings.map((saving) => make("li", null, durationText(saving.us) + " of " + durationText(saving.ofUs) + " (" + saving.compilations.join(", ") + "): " + saving.change + ". ", saving.line >= 0 ? sourceLink(saving.line) : null));
  return make("section.costs", null, make("h2", null, "Where the time of compiling went"), make("p", null, text), rows.length ? make("p", null, "What changes would save, predicted:") : null, rows.length ? make("ul", null, ...rows) : null);
}

/** @param {Process} process */
function phaseTable(process) {
  /** @type {Map<string, {name: string, self: number, count: number, isParallel: boolean}>} */
  const sums = new Map();
  let whole = 0;
  for (const phases of [process.phases, ...process.compilations.map((compilation) => compilation.phases)])
    for (const phase of phases) {
      // A phase can have events in worker threads and events in the main thread.
      const key = (phase.isParallel ? "beside " : "") + phase.name;
      const sum = sums.get(key) || { name: phase.name, self: 0, count: 0, isParallel: phase.isParallel };
      sum.self += phase.selfUs;
      sum.count += phase.count;
      sums.set(key, sum);
      if (!phase.isParallel) whole += phase.selfUs;
    }
  if (!sums.size) return compilationTable(process) || "";
  const rows = [...sums.values()].sort((a, b) => Number(a.isParallel) - Number(b.isParallel) || b.self - a.self).slice(0, phasesShown).map((sum) => {
    const bar = make("i.seconds-bar");
    bar.style.width = Math.min(100, (100 * sum.self) / whole) + "%";
    return make("tr", null, make("td", null, make("code", null, sum.name)), make("td.figure", null, durationText(sum.self), sum.isParallel ? null : make("span.seconds-track", null, bar)), make("td.figure", null, sum.isParallel ? make("small", { title: "The phase ran in worker threads while the main thread did something else" }, "in workers") : ((100 * sum.self) / whole).toFixed(1) + " %"), make("td.figure", null, sum.count));
  });
  const heads = ["phase", "time without nested phases", "share", "times"];
  return make("section.phases", null, make("h2", null, "Time by phase"), make("div.table-scroll", null, make("table", null, make("thead", null, make("tr", null, ...heads.map((head, at) => make(at ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...rows))));
}
