/* The script of Carol's pages: choosing fuzzers, moving through time, zooming, following a lineage, and the live
   view.  The page is whole without it. */
"use strict";
(() => {
  const body = document.body, live = body.hasAttribute("data-live");
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const make = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const clock = (s) => {
    const two = (n) => String(n).padStart(2, "0");
    return Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(Math.floor(s) % 60);
  };

  /* --- fuzzers: a legend's buttons switch them off and on in every picture ------------------------- */
  const off = new Set();
  const applyFuzzers = (root) => {
    for (const key of all("button.key", root)) key.setAttribute("aria-pressed", String(!off.has(key.dataset.arm)));
    for (const item of all("svg .off", root)) item.classList.remove("off");
    for (const arm of off) for (const item of all("svg .a" + arm, root)) item.classList.add("off");
  };
  document.addEventListener("click", (event) => {
    const key = event.target.closest("button.key");
    if (!key) return;
    if (!off.delete(key.dataset.arm)) off.add(key.dataset.arm);
    applyFuzzers(document);
  });

  /* --- time: one moment and one zoom for all pictures ---------------------------------------------- */
  const form = document.querySelector(".moment");
  const slider = form && form.querySelector("input"), said = form && form.querySelector("output");
  let series = null, moment = null, zoom = null;
  const plots = () => all(".time > svg.plot");
  const geometry = (svg) => {
    const [left, top, width, height] = svg.dataset.area.split(" ").map(Number);
    const [lo, hi] = svg.dataset.x.split(" ").map(Number);
    const from = zoom ? zoom[0] : lo, to = zoom ? zoom[1] : hi;
    return { left, top, width, height, lo, hi, from, to, at: (t) => left + width * (t - from) / (to - from) };
  };
  const timeAt = (svg, event) => {
    const g = geometry(svg), box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    return Math.min(g.to, Math.max(g.from, g.from + (x - g.left) / g.width * (g.to - g.from)));
  };
  const drawCursor = (svg) => {
    const g = geometry(svg);
    let line = svg.querySelector(":scope > .cursor");
    if (!line) {
      line = make("line");
      line.setAttribute("class", "cursor");
      svg.append(line);
    }
    const shown = moment !== null && moment >= g.from && moment <= g.to;
    const x = shown ? g.at(moment) : -9;
    line.setAttribute("visibility", shown ? "visible" : "hidden");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.setAttribute("y1", g.top);
    line.setAttribute("y2", g.top + g.height);
  };
  const names = () => all("#coverage button.key").map((key) => key.textContent);
  const tell = () => {
    if (!said || !series) return;
    said.replaceChildren();
    const at = moment === null ? series.end : moment, last = series.rows.length - 1;
    const row = series.rows[Math.min(last, Math.round(at / series.end * last))];
    const strong = document.createElement("b");
    const [defects, crashes] = row.slice(-2), count = (n, word) => n ? ", " + n + " " + word + (n === 1 ? "" : word === "crash" ? "es" : "s") : "";
    strong.textContent = clock(at) + "  " + row[0] + " edges" + count(defects, "defect") + count(crashes, "crash");
    const parts = names().map((name, i) => [row[i + 1], name]).filter((p) => p[0] > 0).sort((a, b) => b[0] - a[0]);
    said.append(strong, parts.length ? "  first by " + parts.slice(0, 8).map((p) => p[1] + " " + p[0]).join(", ") : "");
  };
  const setMoment = (t) => {
    moment = t;
    if (slider && series && t !== null) slider.value = String(Math.round(t / series.end * Number(slider.max)));
    plots().forEach(drawCursor);
    tell();
  };
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400, 172800, 604800];
  const drawTicks = (svg) => {
    const g = geometry(svg), group = svg.querySelector(".times"), span = g.hi - g.lo;
    const unit = span <= 180 ? 1 : span <= 10800 ? 60 : span <= 345600 ? 3600 : 86400;
    const step = steps.find((s) => (g.to - g.from) / s <= 9) || (g.to - g.from) / 5;
    group.replaceChildren();
    for (let k = Math.ceil(g.from / step); k * step <= g.to + step * 1e-9; k++) {
      const text = make("text");
      text.setAttribute("class", k % 2 ? "tick odd" : "tick");
      text.setAttribute("text-anchor", "middle");
      text.setAttribute("x", g.at(k * step));
      text.setAttribute("y", g.top + g.height + 4);
      text.setAttribute("dy", ".95em");
      text.textContent = String(Number((k * step / unit).toPrecision(4)));
      group.append(text);
    }
  };
  const drawZoom = (svg) => {
    const g = geometry(svg), area = svg.querySelector(".area");
    if (!area) return;
    const box = area.viewBox.baseVal, x = (t) => g.left + g.width * (t - g.lo) / (g.hi - g.lo);
    area.setAttribute("viewBox", [x(g.from), box.y, x(g.to) - x(g.from), box.height].join(" "));
    drawTicks(svg);
    drawCursor(svg);
  };
  const setZoom = (range) => {
    zoom = range;
    plots().forEach(drawZoom);
    const whole = form && form.querySelector(".whole");
    if (whole) whole.hidden = !zoom;
  };
  const zoomBy = (factor, g) => {
    const end = g.hi, middle = moment === null ? (g.from + g.to) / 2 : moment, half = (g.to - g.from) * factor / 2;
    if (2 * half >= end) setZoom(null);
    else if (2 * half > end / 500) {
      const start = Math.max(0, Math.min(end - 2 * half, middle - half));
      setZoom([start, start + 2 * half]);
    }
  };
  let drag = null;
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest && event.target.closest(".time > svg.plot");
    if (!svg || event.button !== 0 || event.pointerType === "touch") return;
    drag = { svg, from: timeAt(svg, event), box: make("rect") };
    drag.box.setAttribute("class", "select");
    svg.append(drag.box);
  });
  document.addEventListener("pointermove", (event) => {
    const svg = drag ? drag.svg : event.target.closest && event.target.closest(".time > svg.plot");
    if (!svg) return;
    const t = timeAt(svg, event), g = geometry(svg);
    setMoment(t);
    if (!drag) return;
    const x = [g.at(drag.from), g.at(t)].sort((a, b) => a - b);
    for (const [key, v] of [["x", x[0]], ["width", x[1] - x[0]], ["y", g.top], ["height", g.height]]) drag.box.setAttribute(key, v);
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const t = timeAt(drag.svg, event), g = geometry(drag.svg), range = [drag.from, t].sort((a, b) => a - b);
    drag.box.remove();
    drag = null;
    if (range[1] - range[0] > (g.to - g.from) / 50) setZoom(range);
  });
  document.addEventListener("dblclick", (event) => {
    if (event.target.closest(".time > svg.plot")) setZoom(null);
  });
  document.addEventListener("keydown", (event) => {
    const svg = event.target.closest && event.target.closest(".time > svg.plot");
    if (!svg || event.ctrlKey || event.metaKey || event.altKey) return;
    const g = geometry(svg), step = (g.to - g.from) / 60, now = moment === null ? g.to : moment;
    if (event.key === "ArrowLeft") setMoment(Math.max(g.from, now - step));
    else if (event.key === "ArrowRight") setMoment(Math.min(g.to, now + step));
    else if (event.key === "+" || event.key === "=") zoomBy(1 / 2, g);
    else if (event.key === "-") zoomBy(2, g);
    else if (event.key === "Escape" || event.key === "0") setZoom(null);
    else return;
    event.preventDefault();
  });
  if (form) {
    slider.addEventListener("input", () => series && setMoment(series.end * Number(slider.value) / Number(slider.max)));
    form.querySelector(".whole").addEventListener("click", () => setZoom(null));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /* --- lineage: the rows of one chain --------------------------------------------------------------- */
  const has = (ranges, edge) => ranges.split(" ").some((part) => {
    const [from, to] = part.split("-").map(Number);
    return part !== "" && edge >= from && edge <= (to === undefined ? from : to);
  });
  const chainOf = (list, row) => {
    const chain = [], prefix = row.id.replace(/[sx]\d+$/, "");
    while (row && !chain.includes(row)) {
      chain.unshift(row);
      row = list.querySelector("#" + CSS.escape(prefix + "s" + row.dataset.parent));
    }
    return chain;
  };
  const showChain = (section, row) => {
    const list = section.querySelector(".steps"), output = section.querySelector(".pick output");
    const chain = row ? chainOf(list, row) : null;
    for (const item of list.children) item.hidden = chain !== null && !chain.includes(item);
    const hands = chain ? chain.map((item) => item.querySelector("b").textContent) : [];
    output.textContent = chain ? chain.length + (chain.length === 1 ? " step: " : " steps: ") +
      hands.filter((name, i) => name !== hands[i - 1]).join(" → ") : "";
    list.scrollTop = 0;
  };
  const setUpLineage = (section) => {
    const pick = section.querySelector(".pick");
    if (!pick) return;
    const list = section.querySelector(".steps"), select = pick.elements.input, edge = pick.elements.edge, output = pick.querySelector("output");
    const sharers = JSON.parse(section.querySelector(".sharers").textContent);
    const whose = (number) => {
      const part = sharers.edges.split(" ").find((item) => has(item.split(":")[0], number));
      return part ? sharers.sets[Number(part.split(":")[1])].map((arm) => names()[arm]) : [];
    };
    const options = Array.from(list.children).filter((row) => row.matches(".crash") || row.querySelector("strong"));
    select.append(new Option("", ""));
    for (const row of options.reverse().slice(0, 400)) select.append(new Option(row.querySelector("b").textContent + " " + row.querySelector("span").textContent, row.id));
    pick.hidden = false;
    select.addEventListener("change", () => {
      edge.value = "";
      showChain(section, select.value ? document.getElementById(select.value) : null);
    });
    const showEdge = (number, who) => {
      const row = Array.from(list.children).find((item) => has(item.dataset.edges || "", number)) || null;
      showChain(section, row);
      if (!row) output.textContent = who.length ? "its lineage is left out here" : "no input here covered edge " + number + " first";
      if (who.length) output.textContent += "; " + who.join(", ") + (who.length === 1 ? " has" : " have") + " inputs with it";
      return row;
    };
    /* on the served page also those that are left out */
    const fetchEdge = (number, who) => fetch("edge/" + number).then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status))).then((text) => {
      const parsed = document.createElement("template");
      parsed.innerHTML = text;
      for (const row of Array.from(parsed.content.children)) {
        row.hidden = true;
        if (!document.getElementById(row.id)) list.append(row);
      }
      if (edge.value === String(number)) showEdge(number, who);
    }).catch(() => {});
    edge.addEventListener("input", () => {
      const number = Number(edge.value), who = edge.value === "" ? [] : whose(number);
      select.value = "";
      if (edge.value === "") showChain(section, null);
      else if (!showEdge(number, who) && live && who.length) fetchEdge(number, who);
    });
    pick.addEventListener("reset", () => setTimeout(() => showChain(section, null)));
    pick.addEventListener("submit", (event) => event.preventDefault());
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']"), row = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!row || !row.closest(".steps")) return;
    const section = row.closest("section");
    if (link.closest(".steps")) row.hidden = false;
    else showChain(section, row);
  });

  /* --- turns: the served page fetches the rest of one that is opened, and any that is asked for ------ */
  const fetchTurn = (number) => fetch("turn/" + number).catch(() => null).then((answer) => {
    if (answer && answer.ok) return answer.text();
    return Promise.reject(!answer ? "The server does not answer" : answer.status === 404 ? "There is no turn " + number + " here" : "The server answers " + answer.status);
  }).then((text) => {
    const parsed = document.createElement("template");
    parsed.innerHTML = text;
    return parsed.content;
  });
  /* what explains a turn that does not come */
  const commandFor = (number, why) => {
    const note = document.createElement("p"), code = document.createElement("code");
    note.className = "none failed";
    code.textContent = document.querySelector("#turns .explain").textContent.replace(/N$/, number);
    note.append(why + ": ", code);
    return note;
  };
  document.addEventListener("toggle", (event) => {
    const turn = event.target;
    if (!live || !turn.open || !turn.dataset.turn || turn.hasAttribute("data-whole")) return;
    turn.setAttribute("data-whole", "");
    fetchTurn(turn.dataset.turn).then((content) => {
      while (turn.lastChild !== turn.querySelector("summary")) turn.lastChild.remove();
      turn.append(content);
    }).catch((why) => {
      turn.removeAttribute("data-whole");
      for (const old of all(".failed", turn)) old.remove();
      turn.append(commandFor(turn.dataset.turn, why));
    });
  }, true);
  const asked = { turn: "", nodes: [] };
  const setUpTurns = (section) => {
    const pick = section.querySelector(".pick");
    if (!pick || !live) return;
    pick.hidden = false;
    pick.elements.turn.value = asked.turn;
    section.querySelector(".answer").append(...asked.nodes);
    const put = (content) => {
      asked.nodes = Array.from(content instanceof DocumentFragment ? content.children : [content]);
      document.querySelector("#turns .answer").replaceChildren(...asked.nodes);
    };
    pick.addEventListener("submit", (event) => {
      event.preventDefault();
      const number = asked.turn = pick.elements.turn.value;
      if (number) fetchTurn(number).then(put).catch((why) => put(commandFor(number, why)));
    });
  };

  /* --- sections, at first and when they are renewed ------------------------------------------------- */
  const setUp = (root) => {
    const data = document.querySelector("#coverage .series");
    series = data ? JSON.parse(data.textContent) : null;
    if (form) form.hidden = !series;
    applyFuzzers(root);
    for (const svg of plots()) {
      svg.setAttribute("tabindex", "0");
      if (zoom) drawZoom(svg);
      drawCursor(svg);
    }
    for (const section of root.matches && root.matches("section") ? [root] : all("section", root))
      if (section.id.endsWith("lineage")) setUpLineage(section);
      else if (section.id.endsWith("turns")) setUpTurns(section);
    tell();
  };
  const waiting = new Map();
  const renew = (text) => {
    const parsed = document.createElement("template");
    parsed.innerHTML = text;
    const fresh = parsed.content.firstElementChild, old = fresh && document.getElementById(fresh.id);
    if (!old) return;
    if (old.contains(document.activeElement) || (drag && old.contains(drag.svg))) {
      waiting.set(fresh.id, text); /* whoever is reading there is not disturbed */
      return;
    }
    const open = new Set(all("details[data-turn][open]", old).map((item) => item.dataset.turn));
    const list = old.querySelector(".steps"), at = list ? list.scrollTop : 0;
    for (const item of all("details[data-turn]", fresh)) if (open.has(item.dataset.turn)) item.open = true;
    old.replaceWith(fresh);
    if (list) fresh.querySelector(".steps").scrollTop = at;
    setUp(fresh);
  };
  document.addEventListener("focusout", () => setTimeout(() => {
    for (const [id, text] of Array.from(waiting)) {
      waiting.delete(id);
      renew(text);
    }
  }));
  const say = (text, lost) => {
    const place = document.getElementById("live");
    if (!place) return;
    place.textContent = text;
    place.classList.toggle("lost", Boolean(lost));
  };
  setUp(document);
  if (live && window.EventSource) {
    const source = new EventSource("events");
    const sayState = (state) => say(state === "running" ? "live" : state);
    source.addEventListener("open", () => sayState(document.querySelector("#glance .word").textContent));
    source.addEventListener("section", (event) => renew(event.data));
    source.addEventListener("state", (event) => sayState(event.data));
    source.addEventListener("error", () => say("connection lost; what is shown is the last that came", true));
  }
})();
