// Draws the flow as a map: functions, the statements between them that run eagerly, and arrows. The layout comes from
// Dagre, which the build takes from a package. Without Dagre there is no map, and the view shows only the nested boxes.

// the width of a character in pixels: in the first row, which is bold, and in the other rows
const mapCharacters = [8.2, 7.3];
const mapRow = 20;  // the height of a row of text in pixels
const mapPadding = 12;
const mapTextMax = 44;  // the number of characters in a row

/** @typedef {{rows: string[], kind: "function" | "eager", open: Route, title: string}} MapNode */

/** @param {string} text */
function shortened(text) {
  const narrow = text.replace(/\s+/g, " ");
  return narrow.length > mapTextMax ? narrow.slice(0, mapTextMax - 1) + "\u2026" : narrow;
}

/**
 * Returns the nodes and arrows of the map.
 * @param {FlowFunction[]} roots
 */
function mapOf(roots) {
  const process = currentProcess();
  /** @type {Map<FlowFunction, string>} */
  const keys = new Map();
  /** @type {Map<string, MapNode>} */
  const nodes = new Map();
  /** @type {[string, string][]} */
  const arrows = [];
  /** @param {FlowFunction} flow @returns {string} */
  const add = (flow) => {
    const known = keys.get(flow);
    if (known) return known;
    const key = "f" + keys.size;
    keys.set(flow, key);
    const ids = flow.entries.filter((index) => isCompiled(process.compilations[index])).map((index) => process.compilations[index].id);
    const rows = [flow.title, !ids.length ? "not compiled" : (ids.length === 1 ? "graph " : "graphs ") + ids.slice(0, 6).join(", ") + (ids.length > 6 ? " and " + (ids.length - 6) + " more" : "")];
    if (flow.isResume && linesInGraphs(flow)) rows[1] += " \u00b7 " + linesInGraphs(flow);
    nodes.set(key, { rows: rows.map(shortened), kind: "function", open: { c: compilationKey(flow.entries[0]) }, title: flow.title });
    for (const [number, next] of flow.ends) {
      const item = process.breaks[number];
      const end = key + "b" + number;
      /** @type {Route} */
      const open = item.line >= 0 ? { view: "source", file: String(fileNumberOfLine(item.line)), line: String(rowOfLine(item.line)) } : { view: "verdict", to: "breaks" };
      nodes.set(end, { rows: [item.where + " runs eagerly", item.source].filter(Boolean).map(shortened), kind: "eager", open, title: item.reason });
      arrows.push([key, end]);
      for (const following of next) arrows.push([end, add(following)]);
    }
    return key;
  };
  for (const root of roots) add(root);
  return { nodes, arrows };
}

/**
 * Divides the roots into groups, so that roots in different groups do not lead to the same function. Each group has its
 * own map, and the maps are set in lines like words.
 * @param {FlowFunction[]} roots
 */
function separateRoots(roots) {
  /** @param {FlowFunction} flow @param {Set<FlowFunction>} seen @returns {Set<FlowFunction>} */
  const reachedFrom = (flow, seen = new Set()) => {
    if (seen.has(flow)) return seen;
    seen.add(flow);
    for (const next of flow.ends.values()) for (const following of next) reachedFrom(following, seen);
    return seen;
  };
  /** @type {{roots: FlowFunction[], reached: Set<FlowFunction>}[]} */
  let groups = [];
  for (const root of roots) {
    const merged = { roots: [root], reached: reachedFrom(root) };
    const apart = groups.filter((group) => ![...group.reached].some((flow) => merged.reached.has(flow)));
    for (const group of groups)
      if (!apart.includes(group)) {
        merged.roots = [...group.roots, ...merged.roots];
        for (const flow of group.reached) merged.reached.add(flow);
      }
    groups = [...apart, merged];
  }
  return groups.map((group) => group.roots);
}

/**
 * @param {FlowFunction[]} roots
 * @returns {HTMLElement | null} null if there is no arrow to draw, or no library that computes the layout
 */
function flowMaps(roots) {
  const maps = separateRoots(roots).map(flowMap).filter(Boolean);
  return maps.length ? make("div.maps", null, ...maps) : null;
}

/** @param {FlowFunction[]} roots @returns {HTMLElement | null} */
function flowMap(roots) {
  const { dagre } = /** @type {any} */ (globalThis);
  const { nodes, arrows } = mapOf(roots);
  if (!dagre || !arrows.length) return null;
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 24, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [key, node] of nodes) {
    const widths = node.rows.map((row, position) => row.length * mapCharacters[position ? 1 : 0]);
    graph.setNode(key, { width: Math.max(...widths) + 2 * mapPadding, height: node.rows.length * mapRow + mapPadding });
  }
  for (const [from, to] of arrows) graph.setEdge(from, to);
  dagre.layout(graph);
  const { width, height } = graph.graph();
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.setAttribute("aria-hidden", "true");
  for (const edge of graph.edges()) {
    const { points } = graph.edge(edge);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", arrowPath(points));
    svg.append(path);
  }
  const map = make("div.flow-map", { role: "group", "aria-label": "Map of the flow" });
  map.append(svg);
  for (const [key, node] of nodes) {
    const place = graph.node(key);
    const box = link(node.open, ...node.rows.map((row, position) => make(position ? "small" : "b", null, row)));
    box.className = "map-" + node.kind;
    box.title = node.title;
    box.style.left = place.x - place.width / 2 + "px";
    box.style.top = place.y - place.height / 2 + "px";
    box.style.width = place.width + "px";
    box.style.height = place.height + "px";
    map.append(box);
  }
  map.style.width = width + "px";
  map.style.height = height + "px";
  return make("div.map-scroll", null, map);
}

const arrowHead = 5;  // half of the width of an arrow head in pixels

/**
 * Returns the SVG path of a line through the points, with an arrow head at its end.
 * @param {{x: number, y: number}[]} points
 */
function arrowPath(points) {
  const line = points.map(({ x, y }, position) => (position ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");
  const [before, end] = points.slice(-2);
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [dx, dy] = [((end.x - before.x) / length) * arrowHead, ((end.y - before.y) / length) * arrowHead];
  const corner = (/** @type {number} */ side) => (end.x - 2 * dx - side * dy).toFixed(1) + " " + (end.y - 2 * dy + side * dx).toFixed(1);
  return line + "M" + corner(1) + "L" + end.x.toFixed(1) + " " + end.y.toFixed(1) + "L" + corner(-1);
}
