// Keeps what is shown in the address, behind the # of the page: #c=1/1&pane=post&line=42. The members are `view`, `p`
// (the number of the process), `c` (the compilation), `panes`, `pane`, `line` (a row of the pane), `file` and `q` (a
// search).

/** @typedef {Record<string, string>} Route */

/**
 * The part of the address behind the `#` if the page is in the frame of a notebook, whose address a page cannot change;
 * null until the user opens a link.
 * @type {string | null}
 */
let ownHash = null;
const isFramed = location.protocol === "about:";
const currentHash = () => ownHash ?? location.hash;

/** @returns {Route} */
function readRoute() {
  /** @type {Route} */
  const route = {};
  for (const part of currentHash().slice(1).split("&")) {
    const equals = part.indexOf("=");
    if (equals <= 0) continue;
    try {
      route[part.slice(0, equals)] = decodeURIComponent(part.slice(equals + 1));
    } catch (error) {
      // A damaged member of the address is ignored.
    }
  }
  return route;
}

/** @param {Route} route */
function routeText(route) {
  return (
    "#" +
    Object.entries(route)
      .filter(([, value]) => value !== "" && value !== undefined)
      .map(([name, value]) => name + "=" + encodeURIComponent(value).replace(/%2F/g, "/").replace(/%2C/g, ","))
      .join("&")
  );
}

/** @param {Route} route */
function go(route) {
  const text = routeText(route);
  if (isFramed) {
    ownHash = text;
    showRoute();
  } else if (text === location.hash) {
    showRoute();
  } else {
    location.hash = text;
  }
}

/**
 * Changes the address without adding an entry to the history.
 * @param {Route} route
 */
function keepRoute(route) {
  if (isFramed) ownHash = routeText(route);
  else history.replaceState(null, "", routeText(route));
}

/** Returns the number of the process that is shown. */
function processNumber() {
  const { p } = readRoute();
  const number = Number(p);
  if (p !== undefined && Number.isInteger(number) && number >= 0 && number < data.processes.length) return number;
  // The default is the last of several runs in a dump, and the first of several ranks or logs.
  return data.processes.some((process) => process.isLog || process.rank !== null) ? 0 : Math.max(0, data.processes.length - 1);
}
const currentProcess = () => data.processes[processNumber()] || emptyProcess;

/**
 * Adds the number of the process to the members of an address. The default, 0, is omitted.
 * @param {Route} members
 * @returns {Route}
 */
function withProcess(members) {
  const number = processNumber();
  return number ? { ...members, p: String(number) } : members;
}

/** @param {Route} members @param {...(Child | Child[])} content */
function link(members, ...content) {
  return make("a", { href: routeText(withProcess(members)) }, ...content);
}

/**
 * Returns the key of a compilation in an address: its id and, behind a `~`, the number of earlier compilations with the
 * same id, if there are any.
 * @param {number} index
 */
function compilationKey(index) {
  const { compilations } = currentProcess();
  let before = 0;
  for (let at = 0; at < index; at += 1) if (compilations[at].id === compilations[index].id) before += 1;
  return compilations[index].id + (before ? "~" + before : "");
}

/** @param {string} key @returns {number} the index of the compilation, or -1 */
function compilationOfKey(key) {
  const [, id, before] = /^(.*?)(?:~(\d+))?$/.exec(key) || ["", key, ""];
  let left = Number(before || 0);
  return currentProcess().compilations.findIndex((compilation) => compilation.id === id && left-- === 0);
}

/** @param {number} index @param {...Child} content */
function compilationLink(index, ...content) {
  const compilation = currentProcess().compilations[index];
  const element = link({ c: compilationKey(index) }, ...(content.length ? content : [compilation.id]));
  element.title = compilation.title;
  return element;
}

/** @param {number} line */
function sourceLink(line) {
  return link({ view: "source", file: String(fileNumberOfLine(line)), line: String(rowOfLine(line)) }, placeOfLine(line));
}
