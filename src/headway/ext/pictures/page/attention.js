/* The attention view: controls, a figure that reacts to pointer and keyboard, a table, downloads.
 * headway.attention(root, json, {fragment}) builds it inside root and returns {set, tokens}:
 * set changes the state, tokens() returns the map that is shown. */
(function (headway) {
  "use strict";

  const KINDS = { encoder: "Encoder", decoder: "Decoder", cross: "Encoder–decoder" };
  const VIEWS = {
    heads: "Heads", paper: "Paper", grid: "Grid", heat: "Heat map", alignment: "Alignment",
  };
  const NOTES = {
    encoder: "Each source token attends to the source.",
    decoder: "Tokens are the inputs of the decoder: each row predicts the token after it.",
    cross: "Each target token attends to the source while it is predicted.",
  };
  const KEYS = [
    ["Arrow keys", "move from token to token, and to the other side"],
    ["Enter or Space", "pin the token; open a map of the grid"],
    ["Escape", "unpin the token"],
    ["1 to 9", "show or hide a head; with Shift: show this head alone; 0: show all heads"],
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
    const kinds = Object.keys(KINDS).filter((kind) => json.maps[kind]);
    if (!kinds.length) return void root.replaceChildren("This model has no attention to show.");
    const state = { kind: kinds.at(-1), view: "heads", layer: 0, heads: [], words: false, pin: null };
    let [hovered, cursor, svg] = [null, null, null];

    const decoded = {};
    /** Return the map that is shown, with the labels and layouts of its view. */
    function current() {
      const form = state.words ? "words" : "maps";
      decoded[form] ??= {};
      return (decoded[form][state.kind] ??=
        { ...headway.decode(json[form][state.kind]), ...json.views[form][state.kind] });
    }
    const allHeads = () => Array.from({ length: current().heads }, (_, i) => i);
    const spot = () => hovered ?? cursor ?? state.pin;
    const title = () => `${caption()}: ${json.source} – ${json.target}`;
    const caption = () => {
      const name = `${KINDS[state.kind]} attention`;
      if (state.view === "grid") return `${name}, all layers and heads`;
      const numbers = state.heads.map((head) => head + 1).join(", ");
      const all = state.heads.length === current().heads;
      const heads = all ? "all heads" : `head${state.heads.length === 1 ? "" : "s"} ${numbers}`;
      return `${name}, layer ${state.layer + 1}, ${heads}`;
    };

    // ---- controls
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
    figure.setAttribute("aria-label", "Attention. Arrow keys move from token to token; all keys are listed below.");
    const reading = html("p", { className: "reading" });
    reading.setAttribute("role", "status");
    const table = html("table", {});
    const tableBox = html("details", { className: "numbers" }, html("summary", {}, "As a table"),
      html("div", { className: "scroll" }, table));
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
    /** Change the state; a value that cannot be shown falls back to one that can. */
    function set(changes) {
      const { kind, view, words } = state;
      Object.assign(state, changes);
      const map = current();
      state.layer = Math.min(Math.max(0, state.layer | 0), map.layers - 1);
      const there = new Set(state.heads);
      state.heads = allHeads().filter((head) => there.has(head));
      if (!state.heads.length) state.heads = allHeads();
      const other = kind !== state.kind || words !== state.words; // other tokens
      if (other && !changes.pin) state.pin = null;
      if (other || view !== state.view) cursor = null;
      const { query = 0, key = 0 } = state.pin ?? {};
      if (!(query < map.queries.length && key < map.keys.length)) state.pin = null;
      hovered = null;
      draw();
      if (other || view !== state.view) figure.scrollLeft = 0;
      if (fragment) headway.keepState(state, map.heads);
    }

    // ---- drawing
    function draw() {
      const map = current();
      for (const input of root.querySelectorAll(".choices input"))
        input.checked = state[input.name.split("-").at(-1)] === input.value;
      layerChoice.replaceChildren(...Array.from({ length: map.layers }, (_, i) => new Option(i + 1, i)));
      layerChoice.value = state.layer;
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
          const press = (event) => (event.shiftKey ? solo : toggle)(head);
          const made = button(String(head + 1), `Head ${head + 1}`, press);
          made.title = `Head ${head + 1}: click to show or hide it, double click or press S to show it alone`;
          made.addEventListener("dblclick", () => solo(head));
          made.addEventListener("keydown", (event) => event.key.toLowerCase() === "s" && solo(head));
          made.append(headway.sample(head));
          return made;
        }), button("All", "All heads", () => set({ heads: allHeads() })));
      }
      for (const head of allHeads())
        headChoice.children[head].setAttribute("aria-pressed", state.heads.includes(head));
    }
    function toggle(head) {
      const others = state.heads.filter((other) => other !== head);
      set({ heads: others.length < state.heads.length ? others : [...others, head] });
    }
    const solo = (head) => set({ heads: [head] });

    function drawFigure() {
      const made = headway.draw(current(), { ...state, spot: spot() }, title());
      svg = made.svg;
      figure.replaceChildren(svg);
      fit();
      const left = made.omitted ? ` The faintest ${made.omitted.toLocaleString()} lines are left out.` : "";
      note.textContent = `${caption()}. ${NOTES[state.kind]} Opacity: attention weight.${left}`;
      const hint = state.view === "grid" ? "Choose a map." : "Point at a token, or tap it.";
      reading.textContent = headway.reading(current(), state, spot()) || hint;
    }

    /** Scale the figure to the page, but only as far as its letters stay readable: 9 pixels or more. */
    function fit() {
      const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
      const scale = Math.min(1.2, Math.max(0.75, (figure.clientWidth - 4) / width));
      svg.setAttribute("width", Math.floor(width * scale));
      svg.setAttribute("height", Math.floor(height * scale));
    }

    function drawTable() {
      if (!tableBox.open) return;
      const { titles, rows } = headway.table(current(), state);
      const head = titles.map((title) => html("th", { scope: "col" }, title));
      const body = rows.map(([label, ...cells]) =>
        html("tr", {}, html("th", { scope: "row" }, label), ...cells.map((text) => html("td", {}, text))));
      const about = `${KINDS[state.kind]} attention, layer ${state.layer + 1}: where each token looks most`;
      table.replaceChildren(
        html("caption", {}, about), html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body));
    }

    // ---- pointer and keyboard
    const spotOf = ({ target, clientX, clientY }) => {
      const place = target.closest?.(".hit");
      if (!place) return null;
      const data = { ...place.dataset };
      if (data.rows) { // A heat map is one target: the cell follows from the place.
        const box = place.getBoundingClientRect();
        const part = (at, size, count) => Math.max(0, Math.min(count - 1, Math.floor((at / size) * count)));
        return {
          query: part(clientY - box.top, box.height, data.rows),
          key: part(clientX - box.left, box.width, data.columns),
        };
      }
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Number(value)]));
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
    figure.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") hover(spotOf(event));
    });
    figure.addEventListener("pointerleave", () => hover(null));
    figure.addEventListener("click", (event) => choose(spotOf(event)));
    figure.addEventListener("blur", () => {
      cursor = null;
      drawFigure();
    });

    const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];
    figure.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const to = headway.moved(current(), state, cursor, event.key);
      const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
      const letter = event.key.toLowerCase();
      if (to) {
        [cursor, hovered] = [to, null];
        drawFigure();
        for (const here of figure.querySelectorAll(".here"))
          here.scrollIntoView({ block: "nearest", inline: "nearest" });
      } else if (event.key === "Enter" || event.key === " ") choose(cursor);
      else if (event.key === "Escape" && (state.pin || cursor)) {
        cursor = null;
        set({ pin: null });
      }
      else if (digit === "0") set({ heads: allHeads() });
      else if (digit && digit <= current().heads) (event.shiftKey ? solo : toggle)(digit - 1);
      else if (letter === "l") {
        const { layers } = current();
        set({ layer: (state.layer + (event.shiftKey ? layers - 1 : 1)) % layers });
      } else if (letter === "k") set({ kind: next(kinds, state.kind) });
      else if (letter === "v") set({ view: next(Object.keys(VIEWS), state.view) });
      else if (letter === "w") set({ words: !state.words, pin: null });
      else return;
      event.preventDefault();
      event.stopPropagation();
    });

    async function download(type) {
      const make = {
        SVG: async () => new Blob([headway.svgFile(svg, title())], { type: "image/svg+xml" }),
        PNG: () => headway.pngFile(svg, title()),
        JSON: async () => new Blob([JSON.stringify(json)], { type: "application/json" }),
      };
      const address = URL.createObjectURL(await make[type]());
      const file = `attention-${state.kind}-${state.view}-layer${state.layer + 1}.${type.toLowerCase()}`;
      html("a", { href: address, download: file }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }

    new ResizeObserver(fit).observe(figure);
    if (fragment)
      addEventListener("hashchange", () =>
        root.isConnected && set({ heads: [], pin: null, words: false, ...headway.readState(json.maps, VIEWS) }));
    set({ layer: current().layer, ...(fragment ? headway.readState(json.maps, VIEWS) : {}) });
    return { set, tokens: current };
  }

  Object.assign(headway, { attention, html });
})((globalThis.headway ??= {}));
