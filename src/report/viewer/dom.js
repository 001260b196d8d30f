// Creates the elements of the page. All text becomes text nodes, so that no text of a program can become markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Matches control characters and characters that reorder text. They are shown by name, because they could hide text.
 */
const hiddenCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** @param {string} text */
function visible(text) {
  return text.replace(hiddenCharacters, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return "\u2039U+" + code.toString(16).toUpperCase().padStart(4, "0") + "\u203a";
  });
}

/**
 * Creates an element, as in `make("a.chip", {href: "#"}, "text")`. Attributes whose names begin with `on` are
 * listeners.
 * @param {string} kind the tag, and its classes after dots
 * @param {Record<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
function make(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  append(element, ...children);
  return element;
}

/**
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
function append(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(String(child)));
  }
}

/**
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
function replaceContent(element, ...children) {
  element.textContent = "";
  append(element, ...children);
}

/**
 * Creates an item of a list of actions or differences: a badge, a sentence, and a cost at the right.
 * @param {Child} badge @param {Child[]} sentence @param {Child} cost
 * @param {...(Child | Child[])} more the content below the sentence
 */
function actionItem(badge, sentence, cost, ...more) {
  return make("li.action", null, make("div.action-head", null, badge, make("p", null, ...sentence), cost), ...more);
}

/**
 * Returns a text in which the parts between backquotes are code elements. If the number of backquotes is odd, one of
 * them belongs to a program, and the text is returned unchanged.
 * @param {string} text
 * @returns {Child[]}
 */
function withCode(text) {
  if (text.split("`").length % 2 === 0) return [text];
  return text.split("`").map((part, index) => (index % 2 ? make("code", null, part) : part));
}

/**
 * Returns the parts that are not null, with a dot between each two of them.
 * @param {(Child[] | null)[]} parts
 * @returns {Child[]}
 */
function withoutEmpty(parts) {
  return parts.filter((part) => part !== null).flatMap((part, position) => [position ? " \u00b7 " : "", .../** @type {Child[]} */ (part)]);
}

/** @param {number} count @param {string} noun */
function counted(count, noun) {
  return count + "\u00a0" + noun + (count === 1 ? "" : noun.endsWith("s") ? "es" : "s");
}

/** @param {number} seconds */
function secondsText(seconds) {
  if (seconds >= 100) return Math.round(seconds) + "\u00a0s";
  if (seconds >= 9.95) return seconds.toFixed(1) + "\u00a0s";
  return seconds.toFixed(2) + "\u00a0s";
}

/** @param {number | null} bytes */
function bytesText(bytes) {
  if (bytes === null) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let amount = bytes;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return (unit === 0 ? String(amount) : amount.toFixed(amount < 10 ? 1 : 0)) + "\u00a0" + units[unit];
}
