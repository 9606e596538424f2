// The page's own script: draws charts when they come near, hides and shows curves,
// saves what is on the page as files, and prepares the page for paper.
(() => {
  "use strict";

  const NEAR = "600px 0px"; // how far below the screen a chart is drawn already
  const PAPER = { width: 660, height: 300 }; // a chart on paper, in CSS pixels
  const known = JSON.parse(document.getElementById("known").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // --- charts --------------------------------------------------------------------------

  const charts = all(".chart");
  const figures = new Map(); // what each chart shows, read when first needed
  const drawn = new Set();
  let printing = false;

  function figureOf(chart) {
    if (!figures.has(chart)) {
      figures.set(chart, JSON.parse(chart.nextElementSibling.textContent));
    }
    return figures.get(chart);
  }

  // Paper is white, whatever the screen is.
  function colours(onPaper) {
    const style = getComputedStyle(document.documentElement);
    const kind = onPaper ? "paper" : "screen";
    const of = (name) => style.getPropertyValue(`--${kind}-${name}`).trim();
    return { ink: of("ink"), rule: of("rule"), paper: of("page"), font: style.fontFamily };
  }

  function inLines(text, letters) {
    const lines = [""];
    for (const word of (text || "").split(" ")) {
      const line = lines.at(-1);
      if (line && line.length + word.length > letters) lines.push(word);
      else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines.join("<br>");
  }

  function layoutOf(chart, onPaper) {
    const { layout } = figureOf(chart);
    const { ink, rule, paper, font } = colours(onPaper);
    const axis = { gridcolor: rule, linecolor: rule };
    const named = (one) => ({ ...one, title: { font: { size: 13 }, standoff: 10, ...one.title } });
    const out = {
      ...layout,
      font: { color: ink, family: font, size: 12 },
      xaxis: named({ ...axis, automargin: true, ...layout.xaxis }),
      yaxis: named({ ...axis, ...layout.yaxis }),
      showlegend: false, // the buttons above the chart are its legend
      margin: { ...layout.margin, t: 14 },
      hoverlabel: { bgcolor: paper, bordercolor: rule, font: { color: ink }, namelength: 60 },
      modebar: { ...layout.modebar, color: ink, activecolor: ink },
      uirevision: "kept", // what was zoomed stays so when colours change
    };
    out.xaxis.title.text = inLines(out.xaxis.title.text, (onPaper ? PAPER.width : chart.clientWidth) / 8);
    // A finger that scrolls the page must not zoom the chart instead.
    if (matchMedia("(pointer: coarse)").matches) out.dragmode = false;
    if (onPaper) Object.assign(out, PAPER, { autosize: false });
    return out;
  }

  function draw(chart) {
    nearness.unobserve(chart);
    drawn.add(chart);
    const config = {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d"],
    };
    Plotly.react(chart, figureOf(chart).data, layoutOf(chart, printing), config);
  }

  const nearness = new IntersectionObserver(
    (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
    { rootMargin: NEAR },
  );
  // One inside a folded part comes near when that is opened.
  charts.forEach((chart) => nearness.observe(chart));

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawn.forEach(draw);
  });

  // --- legends -------------------------------------------------------------------------

  const keysOf = (chart) => all(".key", chart.parentNode);
  const chartOf = (button) => button.closest("figure").querySelector(".chart");
  const isShown = (key) => key.getAttribute("aria-pressed") === "true";

  function show(chart, isWanted) {
    const groups = new Map();
    for (const key of keysOf(chart)) {
      groups.set(key.dataset.group, isWanted(key));
      key.setAttribute("aria-pressed", String(groups.get(key.dataset.group)));
    }
    const { data, layout } = figureOf(chart);
    for (const one of [...data, ...(layout.shapes || [])]) {
      if (groups.has(one.legendgroup)) one.visible = groups.get(one.legendgroup);
    }
    if (drawn.has(chart)) draw(chart);
  }

  document.addEventListener("click", (event) => {
    const key = event.target.closest(".key");
    const every = event.target.closest(".every");
    if (key) {
      show(chartOf(key), (other) => isShown(other) !== (other === key));
    } else if (every) {
      show(chartOf(every), () => every.dataset.every === "true");
    }
  });

  document.addEventListener("dblclick", (event) => {
    const key = event.target.closest(".key");
    if (!key) return;
    const keys = keysOf(chartOf(key));
    const isAlone = keys.every((other) => isShown(other) === (other === key));
    show(chartOf(key), (other) => isAlone || other === key);
  });

  // --- files ---------------------------------------------------------------------------

  function save(text, title, ending, type) {
    const words = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = `curvewise-${words.slice(0, 80) || "table"}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  // A spreadsheet runs a text that begins like a formula; behind an apostrophe it does not.
  function field(value) {
    let text = value === null || value === undefined ? "" : String(value);
    if (/^[=+\-@\t\r]/.test(text) && !NUMBER.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csv = (rows) => rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");

  // A cell says what it stands for, where it shows less.
  function wordsOf(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.dataset.name) return known.cut[Number(node.dataset.name)];
    if (node.title) return node.title;
    return [...node.childNodes].map(wordsOf).join("");
  }

  const BETWEEN = /^(?:(\S+) )?\[(\S+), (\S+)\]$/; // 0.84 [0.67, 0.94], or the ends alone

  // Estimate and ends of an interval are columns of their own.
  function tableRows(table) {
    const [head, ...body] = [...table.rows].map((row) => [...row.cells].map(wordsOf));
    const columns = head.map((name, i) => {
      const cells = body.map((row) => row[i]);
      const split = cells.map((cell) => cell.match(BETWEEN));
      const isSplit = split.every((parts, n) => parts || cells[n] === "") && split.some(Boolean);
      if (!isSplit) return [[name, ...cells]];
      const part = (n) => split.map((parts) => (parts && parts[n]) || "");
      const ends = [[`${name} lower`, ...part(2)], [`${name} upper`, ...part(3)]];
      return part(1).some(Boolean) ? [[name, ...part(1)], ...ends] : ends;
    }).flat();
    return [...table.rows].map((_, n) => columns.map((column) => column[n]));
  }

  const KINDS = {
    f4: Float32Array, f8: Float64Array, i1: Int8Array, u1: Uint8Array,
    i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
  };

  // Numbers are lists, or bytes in base64, which Plotly reads as well.
  function numbersOf(list) {
    if (!list) return [];
    if (Array.isArray(list)) return list;
    if (ArrayBuffer.isView(list)) return digitsOf(list);
    const bytes = Uint8Array.from(atob(list.bdata), (sign) => sign.charCodeAt(0));
    const flat = digitsOf(new KINDS[list.dtype](bytes.buffer));
    const width = list.shape ? Number(String(list.shape).split(",")[1]) : 0;
    if (!width) return flat;
    return Array.from({ length: flat.length / width }, (_, i) => flat.slice(i * width, (i + 1) * width));
  }

  const tidy = (value, digits = 15) => (Number.isFinite(value) ? Number(value.toPrecision(digits)) : null);
  const digitsOf = (list) => Array.from(list, (value) => tidy(value, list instanceof Float32Array ? 7 : 15));

  function plain(name) {
    const text = name.replaceAll("<br>", " ");
    return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  }

  // A band is drawn along its lower end and back along its upper one, part by part.
  function bandRows(trace) {
    const [x, y] = [numbersOf(trace.x), numbersOf(trace.y)];
    const rows = [];
    for (let first = 0; first < x.length;) {
      const gap = x.indexOf(null, first);
      const last = (gap < 0 ? x.length : gap) - 1;
      const turn = x.indexOf(Math.max(...x.slice(first, last + 1)), first);
      const isMirrored = turn - first === last - turn - 1;
      for (let i = first; i <= turn; i += 1) {
        rows.push([x[i], y[i], isMirrored ? y[last - (i - first)] : null]);
      }
      for (let i = last; i > turn && !isMirrored; i -= 1) rows.push([x[i], null, y[i]]);
      first = last + 2;
    }
    return rows;
  }

  function chartRows(chart) {
    const fromRoot = (x) => (x === null ? x : tidy(x ** -2, 6)); // drawn at one over the root
    const where = chart.dataset.axis === "root" ? fromRoot : (x) => x;
    const rows = [["series", "x", "y", "lower", "upper"]];
    const times = new Map();
    for (const trace of figureOf(chart).data) {
      const isNamed = trace.showlegend !== false;
      const isBand = trace.fill === "toself";
      if (isBand && !isNamed) continue; // told with its curve
      let name = isNamed ? known.groups[Number(trace.legendgroup.slice(1))] : plain(trace.name);
      const before = times.get(name) || 0;
      times.set(name, before + 1);
      if (before) name = `${name} (${before + 1})`;
      if (isBand) {
        bandRows(trace).forEach(([x, ...ends]) => rows.push([name, where(x), null, ...ends]));
        continue;
      }
      const y = numbersOf(trace.y);
      const even = (i) => tidy((trace.x0 || 0) + i * (trace.dx || 1));
      const x = trace.x ? numbersOf(trace.x) : y.map((_, i) => even(i));
      const ends = numbersOf(trace.customdata);
      y.forEach((value, i) => rows.push([name, where(x[i]), value, ...(ends[i] || [null, null])]));
    }
    return rows;
  }

  async function svgOf(chart) {
    const { data } = figureOf(chart);
    const names = keysOf(chart).filter(isShown).map((key) => key.textContent.trim());
    const n = names.length;
    const isLong = names.join("").length + 8 * n > 100; // does not fit in a line
    const title = chart.dataset.title.slice(0, 120)
      .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const layout = {
      ...layoutOf(chart, true),
      ...(drawn.has(chart) ? rangesOf(chart) : {}),
      showlegend: true,
      title: { text: title, x: 0, xref: "paper", font: { size: 16 } },
      margin: { ...figureOf(chart).layout.margin, t: isLong ? 48 : 88 },
      paper_bgcolor: colours(true).paper,
    };
    if (isLong) layout.legend = { x: 1.02, y: 1, tracegroupgap: 0 };
    const size = { width: isLong ? 1100 : 900, height: Math.max(520, isLong ? 20 * n + 140 : 0) };
    const url = await Plotly.toImage({ data, layout: { ...layout, ...size } }, { format: "svg", ...size });
    const svg = decodeURIComponent(url.slice(url.indexOf(",") + 1));
    return svg.replaceAll("]]>", "]]&gt;"); // which no XML may have, and older drawers leave
  }

  // As the reader has zoomed it.
  function rangesOf(chart) {
    const axis = (name) => ({ ...layoutOf(chart, true)[name], range: chart.layout[name].range });
    return { xaxis: axis("xaxis"), yaxis: axis("yaxis") };
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".get");
    if (!button) return;
    const place = document.getElementById(button.dataset.of);
    if (button.dataset.get === "table") {
      save(csv(tableRows(place)), wordsOf(place.caption), "csv", "text/csv");
    } else if (button.dataset.get === "numbers") {
      save(csv(chartRows(place)), place.dataset.title, "csv", "text/csv");
    } else {
      save(await svgOf(place), place.dataset.title, "svg", "image/svg+xml");
    }
  });

  // --- folded parts, contents, paper ---------------------------------------------------

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".open");
    if (!button) return;
    const open = button.getAttribute("aria-pressed") !== "true";
    const parts = all("details.folder", document.getElementById(button.dataset.of));
    parts.forEach((part) => { part.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = `${open ? "Close" : "Open"} all ${parts.length} tasks`;
  });

  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const reading = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const link = links.get(target.id);
      if (isIntersecting) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  all("main > section").forEach((section) => reading.observe(section));

  let folded = [];
  let undrawn = [];

  function toPaper() {
    if (printing) return;
    printing = true;
    folded = all("details:not([open])");
    folded.forEach((part) => { part.open = true; });
    undrawn = charts.filter((chart) => !drawn.has(chart));
    charts.forEach(draw);
  }

  function toScreen() {
    if (!printing) return;
    printing = false;
    folded.forEach((part) => { part.open = false; });
    for (const chart of undrawn) {
      Plotly.purge(chart);
      drawn.delete(chart);
      nearness.observe(chart);
    }
    drawn.forEach(draw);
  }

  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", toScreen);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? toPaper() : toScreen()));
})();
