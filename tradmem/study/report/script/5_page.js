// The page: filters, keys, theme and print.

const MOST_PRINTED = 1000;
const { entries, charts } = JSON.parse(find("data").textContent);
const panel = new Panel(entries);
const table = new Table(entries, (entry, { follow = false } = {}) => {
  if (entry && (!follow || panel.isOpen)) panel.show(entry, { focus: false });
});

function fillSelect(id, values, label = (value) => value) {
  for (const value of values) find(id).append(make("option", { value }, label(value)));
}

function wanted() {
  const agent = find("agent").selectedIndex;
  return {
    query: find("query").value, ticker: find("ticker").value, rating: find("rating").value,
    result: find("result").value, agent: agent > 0 ? agents[agent - 1] : null,
  };
}

const there = (names, key) => names.filter((name) => entries.some((e) => key(e) === name));
const agents = [...new Set(entries.map((e) => e.agent || ""))].sort();
fillSelect("ticker", [...new Set(entries.map((e) => e.ticker))].sort(), market);
fillSelect("rating", there(RATINGS, (e) => e.rating));
fillSelect("result", there(RESULTS, result));
fillSelect("agent", agents, (name) => name || "no name");
find("agent-label").hidden = agents.length < 2;
const form = find("filters");
form.addEventListener("input", () => table.filter(wanted()));
form.addEventListener("reset", () => setTimeout(() => table.filter(wanted())));
form.addEventListener("submit", (event) => event.preventDefault());
for (const element of [form, find("list"), document.querySelector(".keys"), find("theme")]) element.hidden = false;
table.fit();
table.filter(wanted());
const drawAll = drawCharts(charts, (id) => {
  const entry = panel.byId.get(id);
  if (entry) panel.show(entry);
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    find("query").focus();
  } else if (event.key === "Escape" && !isTyping && panel.isOpen) panel.close();
  else if (event.target === find("query") && (event.key === "Enter" || event.key === "ArrowDown")) {
    event.preventDefault();
    find("rows").focus();
  }
});

find("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});

function openFromAddress() {
  const entry = panel.byId.get(location.hash.slice(1));
  if (entry) panel.show(entry);
}
addEventListener("hashchange", openFromAddress);
openFromAddress();

function printedRow(entry) {
  const verdict = make("td", { class: entry.verdict || null }, result(entry));
  const cells = [entry.date, market(entry.ticker), entry.rating].map((text) => make("td", null, text));
  return make("tr", null, ...cells, verdict, ...[percent(entry.raw), percent(entry.alpha), oneLine(says(entry), 180)].map((text) => make("td", null, text)));
}

// What is on paper: the rows as they are filtered and sorted, and everything unfolded.
addEventListener("beforeprint", () => {
  const rows = table.shown.slice(0, MOST_PRINTED);
  const names = ["Date", "Ticker", "Rating", "Result", "Return", "Alpha", "Lesson"];
  const widths = [10, 10, 11, 10, 8, 8, 43];
  const cols = widths.map((width) => {
    const col = make("col");
    col.style.width = `${width}%`;
    return col;
  });
  const head = make("thead", null, make("tr", null, ...names.map((name) => make("th", null, name))));
  const note = rows.length < table.shown.length ? make("p", { class: "note" }, `The first ${counted(rows.length, "row")}; filter the table before printing for others.`) : "";
  find("printed").replaceChildren(note, make("table", null, make("colgroup", null, ...cols), head, make("tbody", null, ...rows.map(printedRow))));
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    details.dataset.folded = "yes";
  }
  drawAll();
});
addEventListener("afterprint", () => {
  find("printed").replaceChildren();
  for (const details of document.querySelectorAll("details[data-folded]")) {
    details.open = false;
    delete details.dataset.folded;
  }
});
