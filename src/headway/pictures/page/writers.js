/* One list of shapes, two writers: SVG elements for the page and the file, pixels for the PNG.
 * Whatever comes from a text goes through textContent, attributes or fillText, never through markup. */
(function (headway) {
  "use strict";

  const SIZE = 13;
  const FAMILY = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
  headway.FONT = `${SIZE}px ${FAMILY}`;

  function element(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined && value !== "") made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const round = (value) => Math.round(value * 100) / 100;

  function shape(item) {
    const looks = {};
    const opacity = item.opacity?.toFixed(3); // of stroke or fill: a group's would be slow and rounded
    for (const [key, value] of Object.entries(item.data ?? {}))
      if (key !== "label") looks[`data-${key}`] = value;
    if (item.hit) looks.class = "hit";
    else looks["pointer-events"] = "none";
    if (item.here) looks.class = "here"; // what the keyboard looks at, to be scrolled into sight
    const stroke = item.stroke && { stroke: item.stroke, "stroke-width": item.width, "stroke-opacity": opacity };
    if (item.line) {
      const [x1, y1, x2, y2] = item.line.map(round);
      return element("line", { x1, y1, x2, y2, "stroke-dasharray": item.dash, ...stroke, ...looks });
    }
    if (item.rect) {
      const [x, y, width, height] = item.rect.map(round);
      const fill = item.fill ?? (item.hit ? "currentColor" : "none");
      const place = { x, y, width, height };
      const made = element("rect", { ...place, fill, "fill-opacity": opacity, ...stroke, ...looks });
      if (item.data?.label) made.append(element("title", {}, item.data.label));
      return made;
    }
    const fill = { fill: item.fill ?? "currentColor", "fill-opacity": opacity };
    if (item.path) return element("path", { d: item.path, ...fill, ...looks });
    const [x, y] = [round(item.x), round(item.y)];
    const turn = item.turn ? `rotate(-90 ${x} ${y})` : undefined;
    const placed = { x, y, "text-anchor": item.anchor, transform: turn, "dominant-baseline": "central" };
    const bold = item.bold ? "bold" : undefined;
    return element("text", { ...placed, "font-weight": bold, ...fill, ...looks }, item.text);
  }

  const layers = new WeakMap(); // what was drawn of arrays that stay the same: it need not be drawn again
  function layer(items) {
    if (!layers.has(items)) {
      const made = element("g", {});
      made.append(...items.map(shape));
      layers.set(items, made);
    }
    return layers.get(items);
  }

  /** Draw a scene as an SVG element that fills no more than its own size. */
  function svg(scene, label) {
    const [width, height] = [Math.ceil(scene.width), Math.ceil(scene.height)];
    const looks = { "font-family": FAMILY, "font-size": SIZE, role: "img", "aria-label": label };
    const made = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...looks });
    if (scene.under) made.append(layer(scene.under));
    made.append(...scene.items.map(shape));
    return made;
  }

  /** The same as the text of an SVG file: dark on white, without what only a pointer needs. */
  function svgFile(scene, label) {
    const under = scene.under && [...scene.under]; // what is on the page stays there
    const made = svg({ ...scene, under }, label);
    made.setAttribute("color", "#1a1a1a");
    for (const hit of made.querySelectorAll(".hit")) hit.remove();
    const ground = element("rect", { width: "100%", height: "100%", fill: "#ffffff" });
    made.prepend(element("title", {}, label), ground);
    return new XMLSerializer().serializeToString(made);
  }

  /** Draw a scene on a canvas, dark on white. */
  function canvas(scene, scale) {
    const made = document.createElement("canvas");
    const most = 8192; // pixels a side; browsers refuse canvases that are far larger
    const by = Math.min(scale, most / scene.width, most / scene.height);
    [made.width, made.height] = [Math.ceil(scene.width * by), Math.ceil(scene.height * by)];
    const pen = made.getContext("2d");
    const ink = (value) => (value === "currentColor" ? "#1a1a1a" : value);
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, made.width, made.height);
    pen.scale(by, by);
    for (const item of [...(scene.under ?? []), ...scene.items]) {
      if (item.hit) continue;
      pen.save();
      pen.globalAlpha = item.opacity ?? 1;
      pen.fillStyle = ink(item.fill ?? "currentColor");
      pen.strokeStyle = ink(item.stroke ?? "currentColor");
      pen.lineWidth = item.width ?? 1;
      if (item.line) {
        pen.setLineDash(item.dash ? item.dash.split(" ").map(Number) : []);
        const [x1, y1, x2, y2] = item.line;
        pen.stroke(new Path2D(`M${x1} ${y1}L${x2} ${y2}`));
      } else if (item.rect) {
        if (item.fill) pen.fillRect(...item.rect);
        if (item.stroke) pen.strokeRect(...item.rect);
      } else if (item.path) pen.fill(new Path2D(item.path));
      else {
        pen.font = (item.bold ? "bold " : "") + headway.FONT;
        [pen.textAlign, pen.textBaseline] = [item.anchor === "middle" ? "center" : item.anchor, "middle"];
        pen.translate(item.x, item.y);
        if (item.turn) pen.rotate(-Math.PI / 2);
        pen.fillText(item.text, 0, 0);
      }
      pen.restore();
    }
    return made;
  }

  Object.assign(headway, { svg, svgFile, canvas });
})((globalThis.headway ??= {}));
