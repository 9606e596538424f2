"use strict";
// Everything that comes is text of others: it is only ever set as text, never as markup.
(function () {
  const QUIET = 20000;   // milliseconds without a word before a stream is opened anew
  const AGAIN = 1500;    // before a stream that was refused is asked for again
  const POLL = 2000;     // between questions where tabs cannot share a stream
  const SPEAK = 30000;   // between two sentences for those who listen
  const MEANWHILE = 1000;  // between two pictures

  const by = (id) => document.getElementById(id);
  const set = (id, text) => { if (by(id).textContent !== text) { by(id).textContent = text; } };
  const show = (id, is) => { by(id).hidden = !is; };
  const made = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) { element.className = name; }
    if (text !== undefined) { element.textContent = text; }
    return element;
  };

  // --- one stream for all tabs ----------------------------------------------------------
  // A browser opens six connections to one server, and a stream holds one for good. So
  // one tab listens, holding a lock, and tells the others; when it closes, another does.

  let latest = null, heard = Date.now(), isLost = false, stream = null, isLeader = false;
  const canShare = "locks" in navigator && "BroadcastChannel" in window;
  const channel = canShare ? new BroadcastChannel("curvewise live") : null;

  function tell(message) { if (channel) { channel.postMessage(message); } }

  function hear(moment) {
    latest = moment;
    heard = Date.now();
    lose(false);
    draw(moment);
  }

  function lose(is) {
    isLost = is;
    set("banner", is ? "Connection lost. Trying again. What is below was the last news." : "");
    show("banner", is);
    set("connection", is ? "Connection lost." : "Connected.");
  }

  function listen() {
    if (stream) { stream.close(); }
    heard = Date.now();
    stream = new EventSource("events");
    stream.addEventListener("moment", (event) => {
      const moment = JSON.parse(event.data);
      hear(moment);
      tell({kind: "moment", moment: moment});
    });
    stream.addEventListener("error", () => {
      lose(true);
      tell({kind: "lost"});
      if (stream.readyState === EventSource.CLOSED) { setTimeout(listen, AGAIN); }
    });
  }

  function lead() {
    isLeader = true;
    listen();
    return new Promise(() => {});  // the lock is held until this tab closes
  }

  function poll() {
    fetch("moment").then((answer) => {
      if (!answer.ok) { throw new Error("refused"); }
      return answer.json();
    }).then(hear, () => lose(true)).finally(() => setTimeout(poll, POLL));
  }

  if (canShare) {
    channel.addEventListener("message", (event) => {
      const message = event.data;
      if (message.kind === "moment") { hear(message.moment); }
      if (message.kind === "lost") { lose(true); }
      if (message.kind === "hello" && isLeader && latest) {
        tell(isLost ? {kind: "lost"} : {kind: "moment", moment: latest});
      }
    });
    navigator.locks.request("curvewise live", lead);
    tell({kind: "hello"});
    window.addEventListener("pageshow", (event) => { if (event.persisted) { tell({kind: "hello"}); } });
  } else {
    poll();
  }
  setInterval(() => {
    if (Date.now() - heard < QUIET) { return; }
    lose(true);
    if (isLeader) { listen(); }
  }, 5000);

  // --- how far it is --------------------------------------------------------------------

  let spoken = 0, said = "", state = "";

  function draw(moment) {
    const words = moment.words;
    document.body.dataset.state = moment.state;
    set("store", moment.store);
    set("state-words", words.state);
    set("headline", words.headline);
    set("rate", words.rate || "\u2013");
    set("left", words.left || "\u2013");
    set("idle", words.idle || "\u2013");
    set("failed", words.failed);
    by("failed-fact").classList.toggle("some", moment.failed > 0);
    set("forecast", words.forecast);
    show("forecast", words.forecast !== "");
    set("trouble", moment.trouble);
    show("trouble", moment.trouble !== "");
    drawBar(moment);
    drawMishaps(moment);
    drawTasks(moment);
    speak(moment);
    ask();
  }

  function drawBar(moment) {
    // While the store is read, the bar says how much of it was.
    const all = moment.state === "reading" ? moment.done + moment.ahead : moment.planned;
    const total = Math.max(all || 0, moment.done, 1);
    const share = (n) => (100 * n / total).toFixed(2) + "%";
    show("bar", Boolean(all));
    show("waiting", moment.state === "waiting");
    by("bar-bad").style.width = share(moment.failed);
    by("bar-good").style.width = share(moment.done - moment.failed);
    const percent = Math.floor(100 * moment.done / total);
    by("bar").setAttribute("aria-valuenow", String(percent));
    const part = all ? percent + " % " : "";
    document.title = (moment.state === "ended" ? "ended " : part) + moment.store + " \u2013 curvewise";
  }

  function speak(moment) {
    const sentence = moment.words.headline + ", " + moment.words.state + ".";
    const now = Date.now();
    if (sentence !== said && (moment.state !== state || now - spoken > SPEAK)) {
      by("spoken").textContent = sentence;
      said = sentence; spoken = now; state = moment.state;
    }
  }

  let mishaps = "";

  function drawMishaps(moment) {
    const key = JSON.stringify(moment.errors);
    show("failures", moment.errors.length > 0);
    set("other-mishaps", moment["other errors"] ? "and " + moment["other errors"].toLocaleString("en") + " with other messages" : "");
    show("other-mishaps", moment["other errors"] > 0);
    if (key === mishaps) { return; }
    mishaps = key;
    by("mishaps").replaceChildren(...moment.errors.map((one) => {
      const item = made("li");
      item.append(
        made("span", "times", one.count.toLocaleString("en") + " \u00d7"),
        made("span", "message", one.message),
        made("span", "first soft", "first in trial " + one.number + " of " + one.algorithm + " on " + one.task));
      return item;
    }));
  }

  // --- one task -------------------------------------------------------------------------

  let chosen = fromAddress(), names = "", standings = "", have = "", isAsking = false, asked = 0;
  let figure = null, isHeard = false, again = 5, later = 0;

  function fromAddress() {
    try { return decodeURIComponent(location.hash.slice(1)); } catch (problem) { return ""; }
  }

  function choose(name) {
    chosen = name;
    have = "";
    history.replaceState(null, "", "#" + encodeURIComponent(name));
    if (latest) { drawTasks(latest); }
    asked = 0;
    ask();
  }

  function drawTasks(moment) {
    const all = moment.tasks.map((task) => task.name);
    show("scores", all.length > 0);
    if (!all.length) { return; }
    if (!all.includes(chosen)) { chosen = all[0]; have = ""; }
    show("chooser", all.length > 1);
    show("tasks-details", all.length > 1);
    if (JSON.stringify(all) !== names) {
      names = JSON.stringify(all);
      by("task").replaceChildren(...all.map((name) => {
        const option = made("option", "", name.length > 80 ? name.slice(0, 79) + "\u2026" : name);
        option.value = name;
        return option;
      }));
    }
    by("task").value = chosen;
    const key = JSON.stringify([moment.tasks, chosen]);
    if (key === standings || !by("tasks-details").open) { return; }
    standings = key;
    drawStandings(moment);
  }

  function drawStandings(moment) {
    const focused = document.activeElement && document.activeElement.dataset.task;
    by("tasks").replaceChildren(...moment.tasks.map((task) => {
      const item = made("li"), button = made("button");
      const n = (count) => count.toLocaleString("en");
      const of = task.planned === null ? n(task.done) : n(task.done) + " of " + n(task.planned);
      const far = of + (task.failed ? ", " + n(task.failed) + " failed" : "");
      button.type = "button";
      button.dataset.task = task.name;
      button.setAttribute("aria-pressed", String(task.name === chosen));
      button.append(made("span", "name", task.name), made("span", "far", far));
      if (task.planned) {
        const thin = made("span", "thin"), part = made("span");
        part.style.width = Math.min(100, 100 * task.done / task.planned).toFixed(1) + "%";
        thin.append(part);
        button.append(thin);
      }
      button.addEventListener("click", () => choose(task.name));
      item.append(button);
      if (focused === task.name) { requestAnimationFrame(() => button.focus()); }
      return item;
    }));
  }

  by("task").addEventListener("change", (event) => choose(event.target.value));
  by("tasks-details").addEventListener("toggle", () => { standings = ""; if (latest) { drawTasks(latest); } });
  window.addEventListener("hashchange", () => choose(fromAddress()));
  document.addEventListener("visibilitychange", ask);

  function wanted() {
    const task = latest && latest.tasks.find((one) => one.name === chosen);
    return task ? latest.boot + "." + task.version : "";
  }

  function ask() {
    if (isAsking || document.hidden || !wanted() || wanted() === have) { return; }
    const wait = asked + MEANWHILE - Date.now();
    isAsking = true;
    setTimeout(fetchTask, Math.max(0, wait));
  }

  function fetchTask() {
    const task = chosen;
    asked = Date.now();
    fetch("now?task=" + encodeURIComponent(task) + "&have=" + encodeURIComponent(have)).then((answer) => {
      again = Number(answer.headers.get("x-again") || 5);
      if (answer.status === 204 || !answer.ok) { return null; }
      return answer.json();
    }).then((page) => {
      if (page && task === chosen) { have = page.have; drawTask(page); }
    }, () => {}).finally(() => {
      isAsking = false;
      // A picture of a moment ago is followed by one of now, also if nothing else comes.
      clearTimeout(later);
      if (task !== chosen) { ask(); } else if (wanted() !== have) { later = setTimeout(ask, 1000 * again); }
    });
  }

  function drawTask(page) {
    set("scores-heading", page.title);
    set("caption", page.caption);
    fill("numbers", page.numbers, (row, line) => curveButton(row[0], page.looks[line]));
    show("numbers-part", page.numbers.rows.length > 0);
    fill("cells", page.cells);
    const notes = page.notes.join("\n");
    if (by("notes").dataset.of !== notes) {
      by("notes").dataset.of = notes;
      by("notes").replaceChildren(...page.notes.map((note) => made("li", "", note)));
    }
    by("chart").setAttribute("aria-label", page.title + ". The numbers are in the table below.");
    show("chart", Boolean(page.figure && window.Plotly));
    figure = page.figure;
    drawChart();
  }

  function fill(id, table, named) {
    const focused = document.activeElement && document.activeElement.dataset.curve;
    const head = made("tr"), place = by(id);
    head.append(...table.columns.map((name) => {
      const cell = made("th", "", name);
      cell.scope = "col";
      return cell;
    }));
    place.tHead.replaceChildren(head);
    place.tBodies[0].replaceChildren(...table.rows.map((row, number) => {
      const line = made("tr");
      line.append(...row.map((text, column) => {
        const cell = made(column ? "td" : "th", "", column || !named ? text : "");
        if (!column) { cell.scope = "row"; }
        if (!column && named) { cell.append(named(row, number)); }
        return cell;
      }));
      return line;
    }));
    const again = named && focused !== undefined && [...place.querySelectorAll(".curve")].find((one) => one.dataset.curve === focused);
    if (again) { again.focus({preventScroll: true}); }
  }

  // --- names that show and hide curves --------------------------------------------------

  const toggled = new Map();  // whether a curve is shown, where somebody has said so

  function curveButton(name, look) {
    const button = made("button", "curve", name);
    button.type = "button";
    button.dataset.curve = name;
    button.dataset.dash = look[1];
    button.style.setProperty("--look", look[0]);
    button.addEventListener("click", () => {
      toggled.set(name, button.getAttribute("aria-pressed") !== "true");
      drawChart();
    });
    return button;
  }

  function press() {
    const hidden = new Set(by("chart").data.filter((trace) => trace.visible === "legendonly").map((trace) => trace.legendgroup));
    by("numbers").querySelectorAll(".curve").forEach((button) => {
      button.setAttribute("aria-pressed", String(!hidden.has(button.dataset.curve)));
    });
  }

  // --- the chart ------------------------------------------------------------------------

  function drawChart() {
    if (!figure || !window.Plotly) { return; }
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const many = new Set(figure.data.map((trace) => trace.legendgroup)).size;
    const data = figure.data.map((trace) => toggled.has(trace.legendgroup)
      ? Object.assign({}, trace, {visible: toggled.get(trace.legendgroup) ? true : "legendonly"}) : trace);
    const isWide = by("chart").clientWidth > 640;
    const layout = Object.assign({}, figure.layout, {
      font: {color: colour("--ink"), family: "inherit"},
      uirevision: chosen,
      hoverlabel: {bgcolor: colour("--panel"), bordercolor: colour("--rule"), font: {color: colour("--ink")}},
      // Where there is no room for a legend, the names in the table are one.
      showlegend: many <= (isWide ? 8 : 3),
      legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom"}
    });
    if (!isWide) { layout.margin = {l: 52, r: 8, t: 24, b: 48}; }
    ["xaxis", "yaxis"].forEach((name) => {
      layout[name] = Object.assign({gridcolor: colour("--chart-rule"), linecolor: colour("--rule")}, figure.layout[name]);
    });
    Plotly.react(by("chart"), data, layout, {responsive: true, displaylogo: false}).then(() => {
      press();
      if (!isHeard) {
        isHeard = true;
        by("chart").on("plotly_restyle", press);
      }
    });
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart);
}());
