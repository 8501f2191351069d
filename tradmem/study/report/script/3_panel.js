// The panel: one entry with all that became of it, and what it had seen.

class Panel {
  constructor(entries) {
    this.byId = new Map(entries.map((e) => [e.id, e]));
    this.element = find("panel");
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  get isOpen() {
    return !this.element.hidden;
  }

  show(entry, { focus = true } = {}) {
    this.entry = entry;
    const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "Close");
    close.addEventListener("click", () => this.close());
    const title = make("h2", { id: "panel-title" }, make("bdi", null, market(entry.ticker)), ` ${entry.rating}`);
    const word = make("span", { class: entry.verdict || "soft" }, result(entry));
    this.element.replaceChildren(
      make("div", { class: "top" }, make("div", null, title, make("span", null, entry.date + " · "), word), close),
      this.facts(entry), ...this.outcomes(entry),
      ...this.section(entry.status === "note" ? "Note" : "Decision", entry.text),
      ...this.section("Lesson", entry.lesson), ...this.section("Remark", entry.remark),
      ...this.ids(entry.seen_at ? `What it had seen, as of ${instant(entry.seen_at)}` : "What it had seen", entry.seen, entry.status === "note" ? "" : "No memory is recorded as seen by it."),
      ...this.ids("What it cites", entry.cited), ...this.ids("Withheld from it by lot", entry.withheld),
      ...this.ids("What the lesson builds on", entry.links),
      ...this.ids("Decisions that had seen it", this.seenBy(entry)),
    );
    this.element.setAttribute("aria-labelledby", "panel-title");
    this.element.hidden = false;
    this.element.scrollTop = 0;
    history.replaceState(null, "", `#${entry.id}`);
    if (focus) this.element.focus({ preventScroll: true });
  }

  close() {
    this.element.hidden = true;
    history.replaceState(null, "", location.pathname + location.search);
    find("rows").focus({ preventScroll: true });
  }

  facts(entry) {
    const facts = [
      ["Status", [entry.status, entry.reason].filter(Boolean).join(": ")], ["Agent", entry.agent],
      ["Model", entry.model], ["Decided", instant(entry.decided)], ["Recorded", instant(entry.recorded)],
      ["Due", instant(entry.due)], ["Horizon", entry.horizon && counted(entry.horizon, "session")],
      ["Revision", entry.revision || ""], ["Tags", (entry.tags || []).join(", ")],
      ["Flags", (entry.flags || []).join(", ")], ["Edited by hand", (entry.edited || []).join(", ")],
      ["Hidden from recall", entry.hidden], ["Archived", entry.archived && "yes"], ["Id", entry.id],
    ];
    const told = facts.filter(([, value]) => value);
    return make("dl", null, ...told.flatMap(([name, value]) => [make("dt", null, name), make("dd", null, String(value))]));
  }

  outcomes(entry) {
    if (!entry.outcomes) return [];
    const leg = (date, at) => (date ? `${date}${at === null ? "" : ` at ${price(at)}`}` : "not told");
    return entry.outcomes.map((o) => {
      const facts = [
        ["Held", `${leg(o.from, o.bought)} to ${leg(o.to, o.sold)}`],
        ["Return", percent(o.raw, 2)],
        ["Benchmark", o.benchmark ? `${o.benchmark} ${percent(o.market, 2)}` : "none"],
        ["Alpha", o.alpha === null ? "n/a" : percent(o.alpha, 2)],
        ["Band", `±${(100 * o.band).toFixed(2)}%, inside which a move says nothing`],
        ["Known", o.known], ["Flags", o.flags.join(", ")],
      ].filter(([, value]) => value);
      const verdict = make("span", { class: o.verdict || "soft" }, o.verdict || "no verdict");
      return make("section", null, make("h3", null, `After ${counted(o.sessions, "session")}: `, verdict),
        make("dl", null, ...facts.flatMap(([name, value]) => [make("dt", null, name), make("dd", null, value)])));
    });
  }

  section(title, text) {
    return text ? [make("section", null, make("h3", null, title), make("p", { class: "text" }, text))] : [];
  }

  ids(title, ids, otherwise = "") {
    if (!ids || !ids.length) return otherwise ? [make("section", null, make("h3", null, title), make("p", { class: "soft" }, otherwise))] : [];
    const items = ids.map((id) => make("li", null, this.link(id)));
    return [make("section", null, make("h3", null, title), make("ul", { class: "ids" }, ...items))];
  }

  link(id) {
    const entry = this.byId.get(id);
    if (!entry) return make("span", { class: "soft" }, `${id}, not in this report`);
    const head = `${entry.date} ${market(entry.ticker)} ${entry.rating} `;
    const word = make("span", { class: entry.verdict || "soft" }, result(entry));
    const button = make("button", { type: "button" }, head, word, make("small", null, oneLine(says(entry) || entry.text || "", 160)));
    button.addEventListener("click", () => this.show(entry));
    return button;
  }

  seenBy(entry) {
    if (!this.later) {
      this.later = new Map();
      for (const other of this.byId.values()) {
        for (const id of other.seen || []) this.later.set(id, [...(this.later.get(id) || []), other.id]);
      }
    }
    return this.later.get(entry.id);
  }
}
