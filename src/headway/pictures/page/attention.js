/* The attention view: controls, a figure that answers to pointer and keyboard, a table, downloads.
 * headway.attention(root, json, {fragment}) builds it inside root; it
 * returns {set, tokens}: set changes what is shown, tokens() is the map on show. */
(function (headway) {
  "use strict";

  const KINDS = { encoder: "Encoder", decoder: "Decoder", cross: "Encoder–decoder" };
  const VIEWS = { heads: "Heads", paper: "Paper", grid: "Grid", heat: "Heat map", alignment: "Alignment" };
  const NOTES = {
    encoder: "Each source token attends to the source.",
    decoder: "Tokens are what the decoder has read: each row predicts the token after it.",
    cross: "Each target token, while it is predicted, attends to the source.",
  };
  const KEYS = [
    ["Arrow keys", "from token to token, and from one side to the other"],
    ["Enter or Space", "pin the token; open a small map of the grid"],
    ["Escape", "let go"],
    ["1 to 9", "switch a head on or off; with Shift: this head alone; 0: all heads"],
    ["L and Shift+L", "next and previous layer"],
    ["K, V, W", "next kind of attention, next view, whole words"],
  ];

  /** Make an HTML element; text can only become text. */
  function html(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function attention(root, json, { fragment = false } = {}) {
    const name = `attention-${document.querySelectorAll(".attention").length}`;
    const maps = {};
    for (const kind of Object.keys(KINDS)) if (json.maps[kind]) maps[kind] = { false: headway.decode(json.maps[kind]) };
    const kinds = Object.keys(maps);
    if (!kinds.length) return void root.replaceChildren("This model has no attention to show.");
    const state = { kind: kinds.at(-1), view: "heads", layer: 0, heads: [], words: false, pin: null };
    let [hovered, cursor, scene] = [null, null, null];

    const current = () => (maps[state.kind][state.words] ??= headway.mergeWords(maps[state.kind].false));
    const allHeads = () => Array.from({ length: current().heads }, (_, i) => i);
    const spot = () => hovered ?? cursor ?? state.pin;
    const caption = () => {
      const one = state.heads.length === 1;
      const heads = state.heads.length === current().heads ? "all heads" : `head${one ? "" : "s"} ${state.heads.map((h) => h + 1).join(", ")}`;
      return `${KINDS[state.kind]} attention, ` + (state.view === "grid" ? "all layers and heads" : `layer ${state.layer + 1}, ${heads}`);
    };

    // ---- what there is to press
    const radios = (key, choices, label) =>
      html("fieldset", { className: "choices" }, html("legend", {}, label),
        ...choices.map(([value, text]) => {
          const input = html("input", { type: "radio", name: `${name}-${key}`, value });
          input.addEventListener("change", () => set({ [key]: value }));
          return html("label", {}, input, html("span", {}, text));
        }));
    const kindChoice = radios("kind", kinds.map((kind) => [kind, KINDS[kind]]), "Attention of");
    const viewChoice = radios("view", Object.entries(VIEWS), "View");
    const layerChoice = html("select", { className: "layer" });
    layerChoice.addEventListener("change", () => set({ layer: Number(layerChoice.value) }));
    const headChoice = html("div", { className: "heads" });
    headChoice.setAttribute("role", "group");
    headChoice.setAttribute("aria-label", "Heads");
    const wordChoice = html("input", { type: "checkbox", className: "words" });
    wordChoice.addEventListener("change", () => set({ words: wordChoice.checked, pin: null }));
    const save = ["SVG", "PNG", "JSON"].map((type) => {
      const button = html("button", { type: "button", className: "save" }, type);
      button.setAttribute("aria-label", `Download ${type}`);
      button.addEventListener("click", () => download(type));
      return button;
    });
    const figure = html("div", { className: "figure", tabIndex: 0 });
    figure.setAttribute("role", "application");
    figure.setAttribute("aria-label", "Attention. Arrow keys go from token to token; all keys are listed below.");
    const reading = html("p", { className: "reading" });
    reading.setAttribute("role", "status");
    const table = html("table", {});
    const tableBox = html("details", { className: "numbers" }, html("summary", {}, "As a table"), html("div", { className: "scroll" }, table));
    tableBox.addEventListener("toggle", drawTable);
    const help = html("details", {}, html("summary", {}, "Keys"),
      html("dl", {}, ...KEYS.flatMap(([key, what]) => [html("dt", {}, key), html("dd", {}, what)])));
    const note = html("p", { className: "note" });
    root.classList.add("attention");
    root.replaceChildren(kindChoice, viewChoice,
      html("div", { className: "bar" }, html("label", {}, "Layer ", layerChoice), headChoice,
        html("label", { className: "tick" }, wordChoice, " Whole words"),
        html("span", { className: "saves" }, "Download ", ...save)),
      note, reading, figure, tableBox, help);

    // ---- state
    /** Change what is shown; nonsense in a value falls back to what can be shown. */
    function set(changes) {
      const { kind, view, words } = state;
      Object.assign(state, changes);
      const map = current();
      state.layer = Math.min(Math.max(0, state.layer | 0), map.layers - 1);
      state.heads = [...new Set(state.heads)].filter((head) => head >= 0 && head < map.heads).sort((a, b) => a - b);
      if (!state.heads.length) state.heads = allHeads();
      const other = kind !== state.kind || words !== state.words; // other tokens
      if (other && !changes.pin) state.pin = null;
      if (other || view !== state.view) cursor = null;
      const { query = 0, key = 0 } = state.pin ?? {};
      if (!(query < map.queries.length && key < map.keys.length)) state.pin = null;
      hovered = null;
      draw();
      if (fragment) writeFragment();
    }

    function readFragment() {
      const given = new URLSearchParams(location.hash.slice(1));
      const found = {};
      if (maps[given.get("kind")]) found.kind = given.get("kind");
      if (Object.hasOwn(VIEWS, given.get("view") ?? "")) found.view = given.get("view");
      if (given.has("layer")) found.layer = Number(given.get("layer")) - 1;
      if (given.has("heads")) found.heads = given.get("heads").split(/\D/).map((head) => Number(head) - 1);
      if (given.has("words")) found.words = given.get("words") === "1";
      const pin = /^([qk])(\d{1,4})$/.exec(given.get("pin") ?? "");
      if (pin) found.pin = { [pin[1] === "q" ? "query" : "key"]: Number(pin[2]) - 1 };
      return found;
    }

    function writeFragment() {
      const given = new URLSearchParams(location.hash.slice(1));
      const all = state.heads.length === current().heads;
      const { query, key } = state.pin ?? {};
      const pin = query !== undefined ? `q${query + 1}` : key !== undefined ? `k${key + 1}` : null;
      const values = { kind: state.kind, view: state.view, layer: state.layer + 1, heads: all ? null : state.heads.map((h) => h + 1).join("."), words: state.words ? 1 : null, pin };
      for (const [key, value] of Object.entries(values)) value === null ? given.delete(key) : given.set(key, value);
      try {
        history.replaceState(history.state, "", `#${given}`);
      } catch { /* a notebook's frame has no address to change */ }
    }

    // ---- drawing
    function draw() {
      const map = current();
      for (const input of root.querySelectorAll(".choices input"))
        input.checked = state[input.name.split("-").at(-1)] === input.value;
      layerChoice.replaceChildren(...Array.from({ length: map.layers }, (_, i) => new Option(String(i + 1), String(i), false, i === state.layer)));
      wordChoice.checked = state.words;
      drawHeads();
      drawFigure();
      drawTable();
    }

    function drawHeads() {
      if (headChoice.children.length !== current().heads + 1) {
        const button = (text, label, press) => {
          const made = html("button", { type: "button", className: "head" }, text);
          made.setAttribute("aria-label", label);
          made.addEventListener("click", press);
          return made;
        };
        headChoice.replaceChildren(...allHeads().map((head) => {
          const made = button(String(head + 1), `Head ${head + 1}`, (event) => event.shiftKey ? solo(head) : toggle(head));
          made.title = `Head ${head + 1}: click to switch, double click or S for this head alone`;
          made.addEventListener("dblclick", () => solo(head));
          made.addEventListener("keydown", (event) => event.key.toLowerCase() === "s" && solo(head));
          const look = { stroke: headway.colour(head), dash: headway.dash(head), width: 3, opacity: 1 };
          const sample = headway.svg({ width: 26, height: 6, items: [{ line: [0, 3, 26, 3], ...look }] });
          sample.setAttribute("aria-hidden", "true");
          made.append(sample);
          return made;
        }), button("All", "All heads", () => set({ heads: allHeads() })));
      }
      allHeads().forEach((head) => headChoice.children[head].setAttribute("aria-pressed", state.heads.includes(head)));
    }
    const toggle = (head) => set({ heads: state.heads.includes(head) ? state.heads.filter((h) => h !== head) : [...state.heads, head] });
    const solo = (head) => set({ heads: [head] });

    function drawFigure() {
      const width = Math.max(260, figure.clientWidth - 4);
      scene = headway.scenes[state.view](current(), { ...state, spot: spot(), width });
      figure.replaceChildren(headway.svg(scene, `${caption()}: ${json.source} – ${json.target}`));
      note.textContent = `${caption()}. ${NOTES[state.kind]}` + (scene.left ? ` The faintest ${scene.left.toLocaleString()} lines are left out.` : "");
      reading.textContent = words(spot()) || (state.view === "grid" ? "Choose a map." : "Point at a token, or tap it.");
    }

    /** Say what is looked at: a token with what it attends to, or who attends to it. */
    function words(at) {
      const map = current();
      const [queries, keys] = [headway.shown(map.queries), headway.shown(map.keys)];
      const { layer, heads } = state;
      const mean = heads.length > 1 ? ` (mean of ${heads.length} heads)` : "";
      const list = (pairs) => pairs.map(([label, weight]) => `${label} ${weight.toFixed(2)}`).join(", ") + mean;
      const { query, key, head } = at ?? {};
      if (head !== undefined) return `Layer ${at.layer + 1}, head ${head + 1}: Enter or a click opens it.`;
      const weight = (query) => headway.meanWeight(map, layer, heads, query, key);
      if (query !== undefined && key !== undefined) return `${queries[query]} → ${list([[keys[key], weight(query)]])}`;
      if (query !== undefined) {
        const best = headway.strongest(map, layer, heads, query, 3);
        return `${queries[query]} → ${list(best.map(([key, weight]) => [keys[key], weight]))}`;
      }
      if (key === undefined) return "";
      const from = queries.map((label, query) => [label, weight(query)]).sort((a, b) => b[1] - a[1]);
      return `${keys[key]} ← ${list(from.slice(0, 3))}`;
    }

    /** For each query the key that each head looks at most: the figure for those who cannot see it. */
    function drawTable() {
      if (!tableBox.open) return;
      const map = current();
      const [queries, keys] = [headway.shown(map.queries), headway.shown(map.keys)];
      const columns = [...(state.heads.length > 1 ? [["Mean", state.heads]] : []), ...state.heads.map((head) => [`Head ${head + 1}`, [head]])];
      const cell = (query, heads) => headway.strongest(map, state.layer, heads, query, 1).map(([key, weight]) => `${keys[key]} ${weight.toFixed(2)}`)[0];
      table.replaceChildren(
        html("caption", {}, `${KINDS[state.kind]} attention, layer ${state.layer + 1}: where each token looks most, with the weight`),
        html("thead", {}, html("tr", {}, ...["Token", ...columns.map(([title]) => title)].map((title) => html("th", { scope: "col" }, title)))),
        html("tbody", {}, ...queries.map((label, query) =>
          html("tr", {}, html("th", { scope: "row" }, label), ...columns.map(([, heads]) => html("td", {}, cell(query, heads)))))));
    }

    // ---- pointer and keyboard
    const spotOf = (target) => {
      const data = target.closest?.(".hit")?.dataset;
      return data ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Number(value)])) : null;
    };
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    function hover(at) {
      if (same(at, hovered)) return;
      hovered = at;
      drawFigure();
    }
    function choose(at) {
      if (!at) return set({ pin: null });
      if (at.head !== undefined) return set({ view: "heat", layer: at.layer, heads: [at.head] });
      const pin = at.query !== undefined ? { query: at.query } : { key: at.key };
      set({ pin: same(pin, state.pin) ? null : pin });
    }
    figure.addEventListener("pointerover", (event) => event.pointerType === "mouse" && hover(spotOf(event.target)));
    figure.addEventListener("pointerleave", () => hover(null));
    figure.addEventListener("click", (event) => choose(spotOf(event.target)));
    figure.addEventListener("blur", () => {
      cursor = null;
      drawFigure();
    });

    /** Where an arrow key leads; null if the key is none. */
    function moved(key) {
      const map = current();
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
      const end = { Home: -1e9, End: 1e9 }[key] ?? 0;
      if (!dx && !dy && !end) return null;
      const keep = (value, count) => Math.max(0, Math.min(count - 1, value));
      const at = cursor ?? (state.view === "heat" || state.view === "grid" ? null : state.pin);
      if (state.view === "grid") {
        if (!at) return { layer: state.layer, head: state.heads[0] };
        return { layer: keep(at.layer + dy, map.layers), head: keep(at.head + dx + end, map.heads) };
      }
      if (state.view === "heat") {
        if (!at) return { query: state.pin?.query ?? 0, key: 0 };
        return { query: keep(at.query + dy, map.queries.length), key: keep(at.key + dx + end, map.keys.length) };
      }
      if (!at) return { query: 0 };
      if (state.view === "alignment") return { query: keep((at.query ?? 0) + dx + dy + end, map.queries.length) };
      const [step, turn] = state.view === "paper" ? [dx, dy] : [dy, dx];
      const side = turn < 0 ? "query" : turn > 0 ? "key" : at.query !== undefined ? "query" : "key";
      const count = side === "query" ? map.queries.length : map.keys.length;
      return { [side]: keep((at.query ?? at.key) + step + end, count) };
    }

    const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];
    figure.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const to = moved(event.key);
      const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
      const letter = event.key.toLowerCase();
      if (to) {
        [cursor, hovered] = [to, null];
        drawFigure();
      } else if (event.key === "Enter" || event.key === " ") choose(cursor);
      else if (event.key === "Escape" && (state.pin || cursor)) {
        cursor = null;
        set({ pin: null });
      }
      else if (digit === "0") set({ heads: allHeads() });
      else if (digit && digit <= current().heads) (event.shiftKey ? solo : toggle)(digit - 1);
      else if (letter === "l") set({ layer: (state.layer + (event.shiftKey ? -1 : 1) + current().layers) % current().layers });
      else if (letter === "k") set({ kind: next(kinds, state.kind) });
      else if (letter === "v") set({ view: next(Object.keys(VIEWS), state.view) });
      else if (letter === "w") set({ words: !state.words, pin: null });
      else return;
      event.preventDefault();
      event.stopPropagation();
    });

    async function download(type) {
      const label = `${caption()}: ${json.source} – ${json.target}`;
      const parts = {
        SVG: async () => new Blob([headway.svgFile(scene, label)], { type: "image/svg+xml" }),
        PNG: () => new Promise((done) => headway.canvas(scene, 2).toBlob(done, "image/png")),
        JSON: async () => new Blob([JSON.stringify(json)], { type: "application/json" }),
      };
      const address = URL.createObjectURL(await parts[type]());
      const link = html("a", { href: address, download: `attention-${state.kind}-${state.view}-layer${state.layer + 1}.${type.toLowerCase()}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }

    let drawn = 0;
    new ResizeObserver(() => {
      if (figure.clientWidth !== drawn) drawFigure();
      drawn = figure.clientWidth;
    }).observe(figure);
    if (fragment) addEventListener("hashchange", () => root.isConnected && set({ heads: [], pin: null, words: false, ...readFragment() }));
    // The last layer but one aligns best in models of the paper's depth.
    set({ layer: Math.max(0, current().layers - 2), ...(fragment ? readFragment() : {}) });
    return { set, tokens: current };
  }

  Object.assign(headway, { attention, html });
})((globalThis.headway ??= {}));
