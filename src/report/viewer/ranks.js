// Shows the processes of a run side by side, which processes compiled the same, and the first difference of the others.

/** @param {HTMLElement} root */
function showRanks(root) {
  if (data.processes.length < 2) {
    root.append(emptyState("There is only one process.", "To see where ranks differ, pass the logs or dumps of several ranks."));
    return;
  }
  const page = make("div.page", null, make("h1", null, processesInWords()));
  const open = (/** @type {number} */ index) => make("a", { href: routeText({ view: "verdict", p: String(index) }) }, nameOfProcess(data.processes[index]));
  const names = (/** @type {RankGroup} */ group) => group.processes.flatMap((index, position) => [position ? ", " : "", open(index)]);
  page.append(make("p.lead", null, !data.ranks.length ? "Dumps and logs describe a run in different terms, so they are shown side by side, but not compared." : data.ranks.length === 1 ? "All of them compiled the same code." : "They fall into " + counted(data.ranks.length, "group") + " that compiled differently."));
  if (data.ranks.length) page.append(
    make(
      "ol.actions",
      null,
      ...data.ranks.map((group) =>
        actionItem(
          make("span.badge." + (group.partsAt ? "amber" : "green"), null, group.partsAt ? "differs" : group.processes.length > 1 ? "the same" : "compared with"),
          group.partsAt ? [...names(group), " first differ" + (group.processes.length > 1 ? "" : "s") + " from ", ...names(data.ranks[group.nearest]), " in compilation ", make("a", { href: routeText({ c: group.partsAt, p: String(group.processes[0]) }) }, group.partsAt), ": ", ...withCode(group.difference)] : names(group),
          null,
        ),
      ),
    ),
  );
  const rows = data.processes.map((process, index) => {
    const tally = tallyOf(process);
    return make("tr", null, make("td", null, open(index)), make("td.figure", null, tally.functions), make("td.figure", null, tally.compilations), make("td.figure", null, tally.breaks), make("td.figure", null, tally.again), make("td.figure", null, tally.seconds ? secondsText(tally.seconds) : ""), make("td", null, make("small", null, process.log)));
  });
  const heads = ["process", "functions", "compilations", "breaks", "recompilations", "seconds", "log"];
  page.append(make("h2", null, "Each process"), make("div.table-scroll", null, make("table", null, make("thead", null, make("tr", null, ...heads.map((head, at) => make(at && at < 6 ? "th.figure" : "th", { scope: "col" }, head)))), make("tbody", null, ...rows))));
  root.append(page);
}
