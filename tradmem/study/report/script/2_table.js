// The table of all decisions: only the rows that are in view are in the page.

const RATINGS = ["Buy", "Overweight", "Hold", "Underweight", "Sell", "Unrated", "Note"];
const RESULTS = ["right", "neutral", "wrong", "no verdict", "settled", "pending", "unresolvable", "note"];
const ROW = 33; // pixels of a row, its line included
const SPARE = 12; // rows drawn above and below what is in view

const COLUMNS = [
  { name: "Date", width: 106, narrow: 84, key: (e) => e.date, cell: (e) => e.date },
  { name: "Ticker", width: 104, narrow: 80, key: (e) => e.ticker, cell: (e) => market(e.ticker) },
  { name: "Rating", width: 108, narrow: 97, key: (e) => RATINGS.indexOf(e.rating), cell: (e) => e.rating },
  { name: "Result", width: 112, narrow: 94, key: (e) => RESULTS.indexOf(result(e)), cell: result, tone: (e) => e.verdict },
  { name: "Return", width: 84, number: true, key: (e) => e.raw, cell: (e) => percent(e.raw), from: 560 },
  { name: "Alpha", width: 84, number: true, key: (e) => e.alpha, cell: (e) => percent(e.alpha), from: 480 },
  { name: "Known", width: 110, key: (e) => e.known, cell: (e) => e.known || "", from: 760 },
  { name: "Agent", width: 110, key: (e) => e.agent, cell: (e) => e.agent || "", from: 980, agents: true },
  { name: "Lesson", width: 0, key: says, cell: says, tone: () => "soft", from: 700 },
];

class Table {
  constructor(entries, open) {
    this.all = entries;
    this.open = open;
    this.shown = [...entries];
    entries.forEach((entry, place) => (entry.place = place));
    this.active = 0;
    this.sort = { column: COLUMNS[0], down: true };
    this.words = entries.map(() => null);
    this.list = find("list");
    this.grid = find("rows");
    this.body = this.grid.tBodies[0];
    this.manyAgents = new Set(entries.map((e) => e.agent || "")).size > 1;
    this.hasNotes = entries.some((e) => e.status === "note");
    this.list.addEventListener("scroll", () => this.draw(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("mousedown", (event) => event.detail > 1 && event.preventDefault());
    new ResizeObserver(() => this.fit()).observe(this.list);
  }

  fit() {
    const width = this.list.clientWidth;
    const columns = COLUMNS.filter((c) => width >= (c.from || 0) && (!c.agents || this.manyAgents));
    if (!this.columns || columns.length !== this.columns.length) {
      this.columns = columns;
      this.head();
    }
    this.draw(true);
  }

  head() {
    this.grid.querySelector("colgroup")?.remove();
    const flexible = this.columns.at(-1).width === 0;
    const cols = this.columns.map((c) => {
      const col = make("col");
      if (c.width) col.style.width = flexible ? `${c.width}px` : `${c.narrow || c.width}px`;
      return col;
    });
    this.grid.prepend(make("colgroup", null, ...cols));
    const cells = this.columns.map((column) => {
      const isSorted = column === this.sort.column;
      const arrow = isSorted ? (this.sort.down ? " ↓" : " ↑") : "";
      const button = make("button", { type: "button" }, column.name + arrow);
      button.addEventListener("click", () => this.sortBy(column));
      const order = isSorted ? (this.sort.down ? "descending" : "ascending") : "none";
      return make("th", { scope: "col", "aria-sort": order, class: column.number && "number" }, button);
    });
    this.grid.tHead.rows[0].replaceChildren(...cells);
  }

  sortBy(column) {
    const same = column === this.sort.column;
    this.sort = { column, down: same ? !this.sort.down : column.number || column.name === "Date" };
    this.head();
    this.order();
    [...this.grid.tHead.querySelectorAll("button")][this.columns.indexOf(column)]?.focus();
  }

  // The words of an entry, made when it is first looked into.
  text(place) {
    const e = this.all[place];
    return (this.words[place] ??= [
      e.id, e.date, e.ticker, e.rating, e.agent, result(e), e.text, e.lesson, e.remark, e.reason, ...(e.tags || []),
    ].filter(Boolean).join("\n").normalize("NFKC").toLowerCase());
  }

  filter({ query, ticker, rating, result: wanted, agent }) {
    const text = query.normalize("NFKC").toLowerCase();
    const words = [...text.matchAll(/"([^"]+)"|[^\s"]+/g)].map((found) => found[1] ?? found[0]);
    this.shown = this.all.filter((e, place) =>
      (!ticker || e.ticker === ticker) &&
      (!rating || e.rating === rating) &&
      (!wanted || result(e) === wanted) &&
      (agent === null || (e.agent || "") === agent) &&
      words.every((word) => this.text(place).includes(word)));
    this.order();
  }

  order() {
    const { column: { key }, down } = this.sort;
    const none = (value) => value === undefined || value === null || value === "";
    const keys = new Map(this.shown.map((entry) => [entry, key(entry)]));
    this.shown.sort((a, b) => {
      const [one, other] = [keys.get(a), keys.get(b)];
      if (none(one) || none(other)) return none(one) - none(other) || a.place - b.place; // last either way
      const order = one < other ? -1 : one > other ? 1 : 0;
      return (down ? -order : order) || a.place - b.place;
    });
    this.active = 0;
    this.list.scrollTop = 0;
    const all = this.hasNotes ? counted(this.all.length, "entry", "entries") : counted(this.all.length, "decision");
    const told = this.shown.length === this.all.length ? all : `${this.shown.length.toLocaleString("en")} of ${all}`;
    find("count").textContent = this.shown.length ? told : `None of ${all} is what was asked for.`;
    this.draw(true);
  }

  draw(anew = false) {
    if (!this.columns) return;
    const height = this.list.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - SPARE);
    const last = Math.min(this.shown.length, first + Math.ceil(height / ROW) + 2 * SPARE);
    if (!anew && this.drawn && this.drawn[0] === first && this.drawn[1] === last) return;
    this.drawn = [first, last];
    const rows = this.shown.slice(first, last).map((entry, place) => this.row(entry, first + place));
    this.body.replaceChildren(this.pad(first), ...rows, this.pad(this.shown.length - last));
    this.grid.setAttribute("aria-rowcount", this.shown.length + 1);
    this.mark();
  }

  pad(rows) {
    const cell = make("td", { colspan: this.columns.length });
    cell.style.height = `${rows * ROW}px`;
    return make("tr", { class: "pad", "aria-hidden": "true", hidden: rows === 0 }, cell);
  }

  row(entry, place) {
    const cells = this.columns.map((column) => {
      const tone = column.tone && column.tone(entry);
      return make("td", { class: column.number ? "number" : tone || null }, column.cell(entry));
    });
    return make("tr", { id: `row-${place}`, "data-place": place, "aria-rowindex": place + 2 }, ...cells);
  }

  mark() {
    for (const row of this.body.rows) {
      const isActive = Number(row.dataset.place) === this.active && !row.classList.contains("pad");
      row.classList.toggle("active", isActive);
      if (isActive) this.grid.setAttribute("aria-activedescendant", row.id);
    }
  }

  go(place) {
    this.active = Math.max(0, Math.min(this.shown.length - 1, place));
    const top = this.active * ROW;
    const room = this.list.clientHeight - this.grid.tHead.offsetHeight - ROW;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top > this.list.scrollTop + room) this.list.scrollTop = top - room;
    this.draw(true);
  }

  click(event) {
    const row = event.target.closest("tr[data-place]");
    if (!row) return;
    this.active = Number(row.dataset.place);
    this.mark();
    this.open(this.shown[this.active]);
  }

  key(event) {
    if (event.target !== this.grid || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.list.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      this.go(this.active + steps[event.key]);
      this.open(this.shown[this.active], { follow: true });
    } else if (event.key === "Enter" || event.key === " ") {
      this.open(this.shown[this.active]);
    } else return;
    event.preventDefault();
  }
}
