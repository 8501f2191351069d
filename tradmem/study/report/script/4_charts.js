// The charts: made when they come into view, by an interpreter of expressions (the page's policy
// forbids code from text), and without any way to load.

const BINDING = 32; // pixels of the line of choices under a chart, as page.css has it
const REFUSE = () => Promise.reject(new Error("this page loads nothing"));

function drawCharts(charts, open) {
  const room = document.querySelector("#charts .charts");
  find("charts").hidden = charts.length === 0;
  const pending = new Map();
  const watcher = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) drawChart(target);
  }, { rootMargin: "400px" });
  const drawChart = (plot) => {
    watcher.unobserve(plot);
    const spec = pending.get(plot);
    pending.delete(plot);
    if (!spec) return Promise.resolve();
    const loader = { load: REFUSE, sanitize: REFUSE, http: REFUSE, file: REFUSE };
    return vegaEmbed(plot, spec, { actions: false, ast: true, renderer: "svg", defaultStyle: false, loader })
      .then(({ view }) => view.addEventListener("click", (event, item) => item?.datum?.id && open(item.datum.id)))
      .catch((error) => plot.replaceChildren(`This chart cannot be drawn: ${error.message}`));
  };
  for (const { title, note, broad, spec } of charts) {
    const plot = make("div", { class: "plot", role: "img", "aria-label": title });
    plot.style.minHeight = `${spec.height + (spec.params?.some((one) => one.bind?.input) ? BINDING : 0)}px`;
    pending.set(plot, spec);
    const caption = make("figcaption", null, make("b", null, title), make("span", null, note));
    room.append(make("figure", { class: broad && "broad" }, caption, plot));
    watcher.observe(plot);
  }
  return () => Promise.all([...pending.keys()].map(drawChart)); // all of them, for print
}
