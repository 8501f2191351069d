// Elements and figures. Text goes into the page as text nodes only, never as markup.

// Characters that turn the direction of others, so that a name reads as another one: told, not obeyed.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;
const plain = (text) => text.replace(TURNING, (found) => `\\u${found.charCodeAt(0).toString(16)}`);

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  const there = children.filter((child) => child !== null && child !== undefined);
  element.append(...there.map((child) => (typeof child === "string" ? plain(child) : child)));
  return element;
}

const find = (id) => document.getElementById(id);

function percent(value, digits = 1) {
  if (value === null || value === undefined) return "";
  const text = (100 * value).toFixed(digits);
  return (Number(text) === 0 ? "+" + Math.abs(0).toFixed(digits) : value > 0 ? "+" + text : text) + "%";
}

function price(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(6)));
}

const instant = (text) => (text ? text.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : "");
const counted = (number, noun, nouns = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;
const oneLine = (text, most = 300) => text.slice(0, most).replace(/\s+/g, " ").trim();
const market = (ticker) => (ticker === "*" ? "market" : ticker);

// What became of an entry, in one word: its verdict, else its status.
function result(entry) {
  if (entry.verdict) return entry.verdict;
  if (entry.outcomes && entry.rating === "Unrated" && entry.raw !== undefined) return "no verdict";
  return entry.status;
}

const says = (entry) =>
  oneLine(entry.lesson || (entry.status === "note" ? entry.text : entry.remark || entry.reason || ""));
