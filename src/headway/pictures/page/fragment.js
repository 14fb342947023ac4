/* What is shown, as the fragment of the page's address: to share a view, and never seen by a server. */
(function (headway) {
  "use strict";

  const given = () => new URLSearchParams(location.hash.slice(1));

  /** Change names in the fragment and leave the others; null takes a name away. */
  function setFragment(values) {
    const names = given();
    for (const [name, value] of Object.entries(values))
      value === null ? names.delete(name) : names.set(name, value);
    try {
      history.replaceState(history.state, "", `#${names}`);
    } catch { /* a notebook's frame has no address to change */ }
  }

  /** Read what the attention view should show; only what is there and can be, counted from 0. */
  function readState(kinds, views) {
    const names = given();
    const found = {};
    const [kind, view] = [names.get("kind") ?? "", names.get("view") ?? ""];
    if (Object.hasOwn(kinds, kind)) found.kind = kind;
    if (Object.hasOwn(views, view)) found.view = view;
    if (names.has("layer")) found.layer = Number(names.get("layer")) - 1;
    if (names.has("heads")) found.heads = names.get("heads").split(/\D/).map((head) => Number(head) - 1);
    if (names.has("words")) found.words = names.get("words") === "1";
    const pin = /^([qk])([1-9]\d{0,3})$/.exec(names.get("pin") ?? "");
    if (pin) found.pin = { [pin[1] === "q" ? "query" : "key"]: Number(pin[2]) - 1 };
    return found;
  }

  /** Write what the attention view shows, counted from 1 as people do. */
  function keepState({ kind, view, layer, heads, words, pin }, count) {
    setFragment({
      kind,
      view,
      layer: layer + 1,
      heads: heads.length === count ? null : heads.map((head) => head + 1).join("."),
      words: words ? 1 : null,
      pin: !pin ? null : pin.query !== undefined ? `q${pin.query + 1}` : `k${pin.key + 1}`,
    });
  }

  Object.assign(headway, { setFragment, readState, keepState });
})((globalThis.headway ??= {}));
