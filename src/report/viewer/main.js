// Creates the frame of the page: the tabs of the views, the help, and the functions of the keys.

/**
 * The key, the title, the function that shows the view, and the description of each view.
 * @type {[string, string, (root: HTMLElement) => void, string][]}
 */
const views = [
  ["changes", "Changes", showChanges, "How this run differs from an earlier run"],
  ["verdict", "Verdict", showVerdict, "What happened, and what to do about it"],
  ["source", "Source", showSource, "Your files, with the graphs, kernels and guards of each line"],
  ["explorer", "Explorer", showExplorer, "A compilation from source to kernels, linked by line"],
  ["flow", "Flow", showFlow, "How a call goes from graph to graph, and where it runs eagerly"],
  ["recompilations", "Recompilations", showRecompilations, "What was compiled again, and which value changed"],
  ["guards", "Guards", showGuards, "When a compilation is used again"],
  ["fusion", "Fusion", showFusion, "Kernels, the kernels that were not fused, and memory"],
  ["modules", "Modules", showModules, "The nodes and kernels of each module; equal layers are shown once"],
  ["timeline", "Timeline", showTimeline, "Which parts of the compilation took how long"],
  ["difference", "Difference", showDifference, "Two stages or two compilations side by side"],
  ["ranks", "Ranks", showRanks, "What differs between processes"],
];

const main = make("main", { id: "view" });
const tabs = make("nav.tabs", { "aria-label": "Views" });

/**
 * Returns the views that have a tab. Changes have a tab if the page compares two runs, and ranks if there are several
 * processes. Only links lead to the differences.
 */
const shownViews = () =>
  views.filter(([key]) => key !== "difference" && (key !== "changes" || data.changes) && (key !== "ranks" || data.processes.length > 1));

function currentView() {
  const { view, c } = readRoute();
  if (view && views.some(([key]) => key === view && (key !== "changes" || data.changes))) return view;
  return c ? "explorer" : data.changes ? "changes" : "verdict";
}

function showRoute() {
  const shown = currentView();
  explorer = null;
  for (const tab of tabs.children) {
    if (/** @type {HTMLElement} */ (tab).dataset.view === shown) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  const process = /** @type {HTMLSelectElement | null} */ (document.querySelector("select.process"));
  if (process) process.value = String(processNumber());
  main.textContent = "";
  main.className = "view-" + shown;
  main.scrollTop = 0;
  const entry = views.find(([key]) => key === shown);
  if (entry) {
    document.title = entry[1] + " \u00b7 torch.compile report";
    entry[2](main);
    // A screen reader needs a heading in each view.
    if (!main.querySelector("h1")) main.prepend(make("h1.unseen", null, entry[1]));
  }
}

/** @param {string} view */
function openView(view) {
  const { c, p } = readRoute();
  const keepsCompilation = c && (view === "explorer" || view === "guards" || view === "fusion");
  go({ view, ...(keepsCompilation ? { c } : {}), ...(p ? { p } : {}) });
}

function processSelect() {
  if (data.processes.length < 2) return null;
  return make(
    "select.process",
    { "aria-label": "Process", onchange: (/** @type {Event} */ event) => go({ view: currentView(), p: /** @type {HTMLSelectElement} */ (event.target).value }) },
    ...data.processes.map((process, index) => make("option", { value: index, selected: index === processNumber() }, nameOfProcess(process))),
  );
}

function versions() {
  const { torch, python } = currentProcess();
  return [data.tool, "PyTorch " + (torch || "of a version that is not recorded"), python && "Python " + python].filter(Boolean).join(" \u00b7 ");
}

const keysHelp = [
  ["/", "search everything"],
  ["1 \u2013 9, 0", "open a view"],
  ["\u2191 \u2193", "move through the rows of a pane; Tab goes to the next pane"],
  ["Enter", "pin the line: the other panes scroll to it"],
  ["Esc", "unpin the line, or close the dialog"],
  ["[ ]", "previous and next compilation"],
  ["t", "switch between the dark and the light theme"],
  ["?", "this help"],
];

function openHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (
    make(
      "dialog.help",
      { "aria-label": "Help", onclose: () => dialog.remove(), onclick: (/** @type {Event} */ event) => event.target === dialog && dialog.close() },
      make("h2", null, "Views"),
      make("dl", null, ...shownViews().flatMap(([key, title, , about]) => [make("dt", null, link({ view: key }, title)), make("dd", null, about)])),
      make("h2", null, "Keys"),
      make("dl", null, ...keysHelp.flatMap(([keys, about]) => [make("dt", null, make("kbd", null, keys)), make("dd", null, about)])),
      make("h2", null, "This page"),
      make("p", null, versions()),
      make("p", null, "Written by ", make("code", null, data.command), ". The page is one file; it loads nothing and sends nothing."),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || document.querySelector("dialog[open]")) return;
  const number = Number(event.key);
  if (event.key === "/") {
    event.preventDefault();
    openSearch();
  } else if (event.key === "?") {
    openHelp();
  } else if (event.key === "t") {
    setTheme(isDark() ? "light" : "dark");
  } else if (event.key === "Escape") {
    if (explorer) explorer.unpin();
  } else if ((event.key === "[" || event.key === "]") && explorer) {
    explorer.step(event.key === "[" ? -1 : 1);
  } else if (event.key >= "0" && event.key <= "9") {
    const view = shownViews()[number === 0 ? 9 : number - 1];
    if (view) openView(view[0]);
  }
}

/**
 * Opens the part of the page that a link leads to. In a frame, the browser would open the link in the surrounding page.
 * @param {Event} event
 */
function followInFrame(event) {
  const anchor = event.target instanceof Element ? event.target.closest("a") : null;
  const href = anchor && anchor.getAttribute("href");
  if (event.defaultPrevented || !href || !href.startsWith("#")) return;
  event.preventDefault();
  ownHash = href;
  showRoute();
}

function start() {
  for (const [key, title, , about] of shownViews()) {
    const tab = make("a", { href: routeText({ view: key }), title: about, "data-view": key, onclick: (/** @type {Event} */ event) => (event.preventDefault(), openView(key)) }, title);
    tabs.append(tab);
  }
  document.body.append(
    make(
      "header.top",
      null,
      make("span.brand", { title: versions() + "\n" + data.command }, make("b", null, "torch.compile"), " report"),
      tabs,
      processSelect(),
      make("button.tool", { title: "Search (/)", onclick: openSearch }, make("kbd", null, "/"), " Search"),
      make("button.tool", { title: "Dark or light (t)", "aria-label": "Dark or light", onclick: () => setTheme(isDark() ? "light" : "dark") }, "\u25d0"),
      make("button.tool", { title: "Help (?)", "aria-label": "Help", onclick: openHelp }, "?"),
    ),
    main,
    make("footer.foot", null, make("span", null, versions()), make("code", null, data.command), make("span", null, "one file, loads nothing")),
  );
  addEventListener("hashchange", showRoute);
  if (isFramed) addEventListener("click", followInFrame);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => {
    printing = true;
    showRoute();
  });
  addEventListener("afterprint", () => {
    printing = false;
    showRoute();
  });
  showRoute();
}

readData().then(start, (error) => {
  document.body.append(make("p", null, "The data of this page cannot be read: " + error + ". Use a browser of 2023 or later."));
});
