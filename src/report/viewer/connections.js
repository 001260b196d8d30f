// Draws curves between neighbouring panes, from the rows of a highlighted line in one pane to its rows in the next.

const gapWidth = 24;  // the width of the gap between two panes, as in viewer.css
const rowsConnected = 30;  // how many rows of one line in one pane get a curve of their own
const linesConnected = 6;  // how many lines of a kernel get curves

/** @typedef {{top: number, bottom: number}} Span a range in pixels, whose height is 0 if its rows are out of sight */

class Connections {
  /** @param {HTMLElement} grid the element that contains the panes */
  constructor(grid) {
    this.grid = grid;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas.connections", { "aria-hidden": "true" }));
    /** @type {CodePane[]} */
    this.panes = [];
    /** @type {Set<number>} */
    this.lines = new Set();
    this.isDue = false;
    /** The number of curves that `draw` has drawn. */
    this.count = 0;
    new ResizeObserver(() => this.redraw()).observe(grid);
  }

  /** @param {CodePane[]} panes from left to right */
  connect(panes) {
    this.panes = panes;
    for (const pane of panes) pane.list.element.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.grid.append(this.canvas);
    this.redraw();
  }

  /** @param {Set<number>} lines the numbers of lines of source */
  show(lines) {
    if (!lines.size && !this.lines.size) return;
    this.lines = lines;
    this.redraw();
  }

  /** Draws the curves once before the next frame, however often the function is called until then. */
  redraw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.grid;
    const scale = devicePixelRatio || 1;
    const context = this.canvas.getContext("2d");
    if (!context || !width || !this.canvas.isConnected) return;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    this.count = 0;
    if (!this.lines.size) return;
    const corner = this.grid.getBoundingClientRect();
    const boxes = this.panes.map((pane) => pane.element.getBoundingClientRect());
    const top = boxes[0].top - corner.top;
    for (const line of [...this.lines].slice(0, linesConnected)) {
      const spans = this.panes.map((pane) => this.spansOf(pane, line, top));
      for (let index = 0; index + 1 < this.panes.length; index += 1) {
        const from = boxes[index].right - corner.left;
        for (const left of spans[index]) for (const right of spans[index + 1]) this.curve(context, line, left, right, from, boxes[index + 1].left - corner.left);
      }
    }
  }

  /**
   * Returns the ranges of the rows in a pane that come from a line. Neighbouring rows share a range. The range of a row
   * above or below the visible part of the pane is the upper or the lower edge of the pane.
   * @param {CodePane} pane @param {number} line @param {number} top @returns {Span[]}
   */
  spansOf(pane, line, top) {
    const { scrollTop, clientHeight } = pane.list.element;
    const edge = (/** @type {number} */ y) => top + Math.min(clientHeight, Math.max(0, y));
    /** @type {Span[]} */
    const spans = [];
    for (const place of (pane.placesOf.get(line) || []).slice(0, rowsConnected)) {
      const y = place * rowHeight - scrollTop;
      const last = spans[spans.length - 1];
      if (last && last.bottom === edge(y)) last.bottom = edge(y + rowHeight);
      else spans.push({ top: edge(y), bottom: edge(y + rowHeight) });
    }
    return spans;
  }

  /** @param {CanvasRenderingContext2D} context @param {number} line @param {Span} left @param {Span} right @param {number} from @param {number} to */
  curve(context, line, left, right, from, to) {
    if (left.top === left.bottom && right.top === right.bottom) return;  // Both ends are out of sight.
    const middle = (from + to) / 2;
    context.beginPath();
    context.moveTo(from, left.top);
    context.bezierCurveTo(middle, left.top, middle, right.top, to, right.top);
    context.lineTo(to, right.bottom);
    context.bezierCurveTo(middle, right.bottom, middle, left.bottom, from, left.bottom);
    context.closePath();
    context.fillStyle = hues[hueOf(line)];
    context.globalAlpha = 0.3;
    context.fill();
    context.globalAlpha = 0.9;
    context.lineWidth = 1;
    context.strokeStyle = context.fillStyle;
    context.stroke();
    this.count += 1;
  }
}
