// Writes a program that executes the graph of one compilation on its own, with inputs of the recorded shapes. The
// program is meant for reports of faults in PyTorch.

const typesOfTensors = /** @type {Record<string, string>} */ ({
  f64: "float64", f32: "float32", f16: "float16", bf16: "bfloat16", c64: "complex64", c128: "complex128", i64: "int64", i32: "int32",
  i16: "int16", i8: "int8", u8: "uint8", b8: "bool",
});
// The words are joined here, so that a search of a redacted page for lines of a program does not match the viewer's
// own code.
const importTorch = ["import", "torch"].join(" ");
const seed = 0;
const defaultSize = 8;  // the value of a size whose value was not recorded

/** @typedef {{name: string, annotation: string}} GraphInput */

/**
 * Returns the class of a captured graph and its inputs.
 * @param {string} text
 * @returns {{code: string, className: string, inputs: GraphInput[]} | null} null if the text is not a graph, or
 * does not state the inputs
 */
function graphOfText(text) {
  const start = text.search(/^class \w+\(torch\.nn\.Module\):$/m);
  if (start < 0) return null;
  const code = text.slice(start);
  const header = /def forward\(([\s\S]*?)\)\s*(?:->[^\n]*)?:[ \t]*$/m.exec(code);
  if (!header) return null;
  const inputs = [...header[1].matchAll(/(\w+)\s*:\s*"([^"]*)"/g)].map(([, name, annotation]) => ({ name, annotation }));
  const names = header[1].split(/"[^"]*"/).join("").match(/\w+/g) || [];
  if (!inputs.length || names.length !== inputs.length + 1) return null;  // The other parameter is `self`.
  const [, className] = /** @type {RegExpExecArray} */ (/^class (\w+)/.exec(code));
  return { code: code.trimEnd(), className, inputs };
}

/**
 * Returns an expression that creates an input of a graph; null if the annotation is incomplete.
 * @param {GraphInput} input @param {boolean} needsGradient
 */
function inputExpression({ name, annotation }, needsGradient) {
  const symbol = /^Sym\((.*)\)$/.exec(annotation);
  if (symbol) return symbol[1];
  const tensor = /^([a-z]+\d+)\[([^\]]*)\](?:\[([^\]]*)\])?\s*([\w:]*)$/.exec(annotation);
  const type = tensor && typesOfTensors[tensor[1]];
  if (!tensor || !type) return null;
  const tuple = (/** @type {string} */ sizes) => (sizes.trim() ? "(" + sizes + ",)" : "()");
  const device = tensor[4] ? ', device="' + tensor[4] + '"' : "";
  const isFloat = /^(b?f|c)\d/.test(tensor[1]);
  const memory = tensor[3] === undefined ? "torch.empty(" + tuple(tensor[2]) : "torch.empty_strided(" + tuple(tensor[2]) + ", " + tuple(tensor[3]);
  const isParameter = /_parameters_|^p_/.test(name);
  return memory + ", dtype=torch." + type + device + ")" + (isFloat ? ".normal_()" : ".zero_()") + (isFloat && needsGradient && isParameter ? ".requires_grad_()" : "");
}

/**
 * Returns assignments of the recorded values to the symbolic sizes of the inputs of a graph.
 * @param {Compilation} compilation @param {GraphInput[]} inputs
 */
function sizesOfInputs(compilation, inputs) {
  const used = new Set(inputs.flatMap(({ annotation }) => annotation.replace(/^[a-z]+\d+(?=\[)|cpu|cuda/g, "").match(/\b(?:s|u)\d+\b/g) || []));
  return [...used].map((symbol) => {
    const row = compilation.symbols.map((text) => text.trim().split(/\s{2,}/)).find(([name]) => name === symbol);
    const value = row && row.find((cell, position) => position > 1 && /^\d+$/.test(cell));
    return symbol + " = " + (value || defaultSize) + (value ? "" : "  # its value is not recorded");
  });
}

/**
 * Returns the program of a compilation; empty if its graph or the inputs of the graph are not recorded, or if the page
 * is redacted.
 * @param {Compilation} compilation
 */
function reproductionOf(compilation) {
  const pane = compilation.panes.find((candidate) => candidate.stage === "captured");
  const graph = pane && !data.isRedacted ? graphOfText(data.texts[pane.text]) : null;
  if (!graph) return "";
  const hasBackward = compilation.panes.some((candidate) => candidate.stage === "backward" || candidate.direction === "backward");
  const hasParameters = graph.inputs.some(({ name }) => /_parameters_|^p_/.test(name));
  /** @type {string[]} */
  const rows = [];
  for (const input of graph.inputs) {
    let expression = inputExpression(input, hasBackward);
    if (expression === null) return "";
    if (hasBackward && !hasParameters && expression.endsWith(".normal_()")) expression += ".requires_grad_()";
    rows.push("        " + expression + ",  # " + input.name);
  }
  const sizes = sizesOfInputs(compilation, graph.inputs).map((row) => "    " + row);
  const backend = compilation.calls.length ? "inductor" : compilation.panes.some(({ stage }) => stage === "forward") ? "aot_eager" : "eager";
  const { torch } = currentProcess();
  return [
    '"""The graph of compilation ' + compilation.id + (torch ? ", captured by PyTorch " + torch : "") + ", with inputs of the recorded shapes. Written by " + data.tool + '."""',
    "",
    importTorch,
    "from torch import device, inf, nan  # names that graphs use",
    "",
    "",
    graph.code,
    "",
    "",
    "def inputs():",
    "    torch.manual_seed(" + seed + ")",
    ...sizes,
    "    return (",
    ...rows,
    "    )",
    "",
    "",
    "def run_graph():",
    "    compiled = torch.compile(" + graph.className + '(), backend="' + backend + '")',
    "    outputs = compiled(*inputs())",
    '    print("outputs:", [tuple(output.shape) if isinstance(output, torch.Tensor) else output for output in outputs])',
    ...(hasBackward
      ? [
          "    differentiable = [output.sum() for output in outputs if isinstance(output, torch.Tensor) and output.requires_grad]",
          "    if differentiable:",
          "        torch.stack(differentiable).sum().backward()",
          '        print("backward: done")',
        ]
      : []),
    "",
    "",
    "run_graph()",
    "",
  ].join("\n");
}

const aboutGraphs = "The program runs only the captured graph, with random inputs of the recorded shapes. It does not contain your own operators, the values of parameters, or other compilations.";

/** @param {string} program @param {string} [title] @param {string} [about] */
function openReproduction(program, title = "This compilation as a program", about = aboutGraphs) {
  const area = /** @type {HTMLTextAreaElement} */ (make("textarea", { readonly: true, rows: 24, spellcheck: "false", "aria-label": "Program" }));
  area.value = program;  // The program is shown unchanged, because what a reader copies has to run.
  const state = make("span.dim", { role: "status" });
  const copy = () => {
    area.select();
    const done = () => replaceContent(state, "copied");
    if (navigator.clipboard) navigator.clipboard.writeText(program).then(done, () => document.execCommand("copy") && done());
    else if (document.execCommand("copy")) done();
  };
  const dialog = /** @type {HTMLDialogElement} */ (
    make(
      "dialog.reproduction",
      { "aria-label": "Program", onclose: () => dialog.remove() },
      make("h2", null, title),
      make("p.dim", null, about),
      area,
      make("p", null, make("button", { onclick: copy }, "Copy"), " ", make("button", { onclick: () => dialog.close() }, "Close"), " ", state),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
