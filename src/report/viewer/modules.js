// Shows the modules of the model as a tree, with the nodes and kernels of each module. Equal layers are shown once.

/**
 * @typedef {object} ModuleNode
 * @property {string} name @property {string} path @property {Map<string, ModuleNode>} children
 * @property {string[]} operators @property {string[]} shapes the shapes of the values that the nodes compute
 * @property {string[]} nodes @property {number} forward @property {number} backward @property {Set<number>} lines
 * @property {string} sameAs @property {Set<string>} kernels the kernels of the module's own nodes
 */

/** @param {string} name @param {string} path @returns {ModuleNode} */
const newModule = (name, path) => ({ name, path, children: new Map(), operators: [], shapes: [], nodes: [], forward: 0, backward: 0, lines: new Set(), sameAs: "", kernels: new Set() });

/**
 * Returns the module of each captured node. The module is the path that the record has for the node, or the heading
 * above the node in the text of the graph, whichever is longer.
 * @param {Compilation} compilation
 */
function modulesOfNodes(compilation) {
  /** @type {Map<string, string>} */
  const modules = new Map();
  const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
  if (pane) {
    const names = new Map(pane.rows.map(([row, name]) => [row, name]));
    let heading = "";
    rowsOfText(pane.text).forEach((text, index) => {
      const match = /^\s*# ([\w.]+|\(top level\))$/.exec(text);
      if (match) heading = match[1] === "(top level)" ? "" : match[1];
      const name = names.get(index + 1);
      if (name) modules.set(name, heading);
    });
  }
  for (const [name, , module] of compilation.nodes) if (module && module.length > (modules.get(name) || "").length) modules.set(name, module);
  return modules;
}

/**
 * Returns the shape of the value that each captured node computes, such as `f32[8, 64]`; empty if the text of the graph
 * does not state the shape.
 * @param {Compilation} compilation @returns {Map<string, string>}
 */
function shapesOfNodes(compilation) {
  const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
  const rows = pane ? rowsOfText(pane.text) : [];
  return new Map((pane ? pane.rows : []).map(([row, name]) => [name, (/: "([^"\]]*\]?)/.exec(rows[row - 1] || "") || ["", ""])[1]]));
}

/** @param {Compilation} compilation @returns {ModuleNode} */
function moduleTree(compilation) {
  const modules = modulesOfNodes(compilation);
  const shapes = shapesOfNodes(compilation);
  const root = newModule("(the function itself)", "");
  /** @param {string} path */
  const at = (path) => {
    let node = root;
    let so = "";
    for (const part of path ? path.split(".") : []) {
      so = so ? so + "." + part : part;
      let child = node.children.get(part);
      if (!child) node.children.set(part, (child = newModule(part, so)));
      node = child;
    }
    return node;
  };
  for (const [name, operator, , line] of compilation.nodes) {
    const node = at(modules.get(name) || "");
    node.operators.push(operator);
    node.shapes.push(shapes.get(name) || "");
    node.nodes.push(name);
    if (line >= 0) node.lines.add(line);
  }
  for (const call of compilation.calls)
    for (const path of new Set(call.captured.map((name) => modules.get(name) || ""))) {
      at(path)[call.direction === "backward" ? "backward" : "forward"] += 1;
      if (call.kind !== "library") at(path).kernels.add((call.direction === "backward" ? "backward " : "forward ") + call.kernel);
    }
  return root;
}

/**
 * Returns a text that describes what a module computes, without the name of the module. Equal layers have equal texts,
 * even if different kernels compute them.
 * @param {ModuleNode} node
 * @returns {string}
 */
const signatureOf = (node) => node.operators.join() + node.shapes.join() + "{" + [...node.children].map(([name, child]) => name + ":" + signatureOf(child)).join(";") + "}";

/**
 * Returns the sums over a module and all modules below it.
 * @param {ModuleNode} node @returns {{nodes: number, forward: number, backward: number}}
 */
function totalsOf(node) {
  const totals = { nodes: node.nodes.length, forward: node.forward, backward: node.backward };
  for (const child of node.children.values()) {
    const below = totalsOf(child);
    totals.nodes += below.nodes;
    totals.forward += below.forward;
    totals.backward += below.backward;
  }
  return totals;
}

/**
 * Returns the generated kernels that compute something of the module or of a module below it. A kernel that is called
 * several times counts once.
 * @param {ModuleNode} node @param {Set<string>} [kernels]
 */
function kernelsOf(node, kernels = new Set()) {
  for (const kernel of node.kernels) kernels.add(kernel);
  for (const child of node.children.values()) kernelsOf(child, kernels);
  return kernels;
}

/**
 * Returns the children of a module. Successive children that are equal and have numbers as names are one item.
 * @param {ModuleNode} node @returns {{node: ModuleNode, title: string, equal: ModuleNode[]}[]}
 */
function foldedChildren(node) {
  /** @type {{node: ModuleNode, title: string, equal: ModuleNode[], signature: string, last: string}[]} */
  const rows = [];
  for (const [name, child] of node.children) {
    const signature = signatureOf(child);
    const before = rows[rows.length - 1];
    if (before && /^\d+$/.test(name) && /^\d+$/.test(before.last) && before.signature === signature) {
      before.equal.push(child);
      before.last = name;
      const names = before.equal.map((one) => one.name);
      const isRange = names.length > 2 && Number(name) - Number(names[0]) === names.length - 1;
      before.title = isRange ? names[0] + " \u2026 " + name : names.join(", ");
    } else {
      rows.push({ node: child, title: name, equal: [child], signature, last: name });
    }
  }
  return rows;
}

/**
 * Returns the children of all parents that have the same names as `children`.
 * @param {ModuleNode[]} parents equal modules
 * @param {ModuleNode[]} children children of the first parent
 */
function sameIn(parents, children) {
  return parents.flatMap((parent) => children.flatMap((child) => parent.children.get(child.name) || []));
}

const kernelsNamed = 40;  // how many kernels are named when the pointer is over their number

/** @param {HTMLElement} root */
function showModules(root) {
  const process = currentProcess();
  const candidates = process.compilations.map((compilation, index) => ({ compilation, index })).filter(({ compilation }) => compilation.nodes.length);
  if (!candidates.length) {
    root.append(emptyState("No graph is recorded.", "The modules are read from captured graphs, and the record has no captured graph."));
    return;
  }
  const page = make("div.page.wide", null, make("h1", null, "Modules"), make("p.lead", null, "A table shows the nodes and kernels of each module of your model. Equal layers are shown once. A kernel or a call that computes something of several modules counts for each of them. PyTorch records the seconds of whole compilations only, so the share of a module is the share of its nodes."));
  for (const { compilation, index } of candidates) {
    /** @type {HTMLElement[]} */
    const rows = [];
    /** @param {ModuleNode} node @param {string} title @param {ModuleNode[]} equal @param {number} depth @param {number} same */
    const add = (node, title, equal, depth, same) => {
      const totals = equal.map(totalsOf).reduce((sum, one) => ({ nodes: sum.nodes + one.nodes, forward: sum.forward + one.forward, backward: sum.backward + one.backward }));
      const name = make("td", null, make("code", null, title), same > 1 ? make("span.badge.blue", null, "\u00d7 " + same + " equal layers; the figures are sums") : null);
      /** @type {HTMLElement} */ (name).style.paddingLeft = 12 + 20 * depth + "px";
      const operators = [...new Set(node.operators)];
      /** @type {Set<string>} */
      const kernels = new Set();
      for (const one of equal) kernelsOf(one, kernels);
      const first = node.nodes[0];
      const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
      const row = pane && first ? pane.rows.find((candidate) => candidate[1] === first) : undefined;
      rows.push(
        make(
          "tr",
          null,
          name,
          make("td.figure", null, row ? link({ c: compilationKey(index), pane: "captured", line: String(row[0]) }, totals.nodes) : totals.nodes),
          make("td", null, make("small", { title: operators.join(", ") }, operators.slice(0, 4).map((operator) => operator.replace(/^torch\.(nn\.functional\.|_C\._nn\.)?/, "")).join(", ") + (operators.length > 4 ? " and " + (operators.length - 4) + " more" : ""))),
          make("td.figure", { title: [...kernels].slice(0, kernelsNamed).join("\n") }, kernels.size || ""),
          make("td.figure", null, totals.forward || ""),
          make("td.figure", null, totals.backward || ""),
          make("td.figure", { title: "The seconds of " + compilation.id + ", distributed over the nodes of its captured graph" }, secondsOf(compilation) && nodesOfAll ? secondsText((secondsOf(compilation) * totals.nodes) / nodesOfAll) : ""),
          make("td", null, ...[...node.lines].slice(0, 3).flatMap((line, position) => [position ? ", " : "", sourceLink(line)]), node.lines.size > 3 ? " and " + (node.lines.size - 3) + " more" : ""),
        ),
      );
      for (const child of foldedChildren(node)) add(child.node, child.title, sameIn(equal, child.equal), depth + 1, child.equal.length);
    };
    const tree = moduleTree(compilation);
    const nodesOfAll = totalsOf(tree).nodes;
    add(tree, compilation.name, [tree], 0, 1);
    const heads = ["module", "nodes", "operators of its own", "kernels", "forward calls", "backward calls", "share of seconds", "lines"];
    page.append(
      make(
        "section",
        null,
        make("h2", null, compilationLink(index), " " + compilation.title, secondsOf(compilation) ? make("span.cost", null, " \u00b7 " + secondsText(secondsOf(compilation)) + " to compile all of it") : null),
        make("div.table-scroll", null, make("table.modules", null, make("thead", null, make("tr", null, ...heads.map((head) => make(/nodes|calls|kernels|seconds/.test(head) ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...rows))),
      ),
    );
  }
  root.append(page);
}
