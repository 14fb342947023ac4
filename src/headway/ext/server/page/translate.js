/* The translation page: it translates while the user types, highlights the words that belong together,
 * and opens the attention of a sentence. */
(function (headway) {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const PAUSE = 250; // milliseconds without input before a request
  const ALTERNATIVES = 3;

  const texts = { source: $("source"), backdrop: $("backdrop"), target: $("target") };
  const fragment = () => new URLSearchParams(location.hash.slice(1));
  let languages = [];
  let limit = Infinity; // characters
  let rates = false; // whether the server says how good translations are
  let answer = null; // the translation on the page: {q, source, target, terms, text}
  let links = null; // a promise of the answer's pairs of words
  let [request, timer] = [null, 0];
  let spans = { source: [], target: [] };

  const panel = headway.panel(() => ({ ...answer, key: $("key").value }));
  const glossary = () => headway.glossaryRows($("glossary").value);
  const files = headway.files(() => ({ source: $("from").value, target: $("to").value, glossary: glossary(), key: $("key").value }));

  // ---- languages
  const nameOf = (code) => languages.find((language) => language.code === code)?.name ?? code;
  const option = ([code, name]) => new Option(name, code);
  const offers = (menu, code) => [...menu.options].some(({ value }) => value === code);

  function fillTargets(wanted) {
    const from = languages.find((language) => language.code === $("from").value);
    const targets = from?.targets ?? new Set(languages.flatMap((language) => language.targets));
    const offered = [...targets].filter((code) => code !== from?.code);
    $("to").replaceChildren(...offered.map((code) => option([code, nameOf(code)])));
    if (offers($("to"), wanted)) $("to").value = wanted;
  }

  function chooseLanguages(from, to) {
    if (offers($("from"), from)) $("from").value = from;
    fillTargets(to);
    texts.source.lang = $("from").value === "auto" ? "" : $("from").value;
    texts.target.lang = $("to").value;
    gray("swap", !offers($("from"), $("to").value), "No model translates the other way", "Swap languages");
    headway.setFragment({ source: $("from").value, target: $("to").value });
  }

  // ---- translating
  /** Translate after a pause; a newer request cancels the older one. */
  function schedule(pause = PAUSE) {
    clearTimeout(timer);
    request?.abort();
    request = null;
    timer = setTimeout(translate, pause);
  }

  async function translate() {
    const [q, source, target] = [texts.source.value, $("from").value, $("to").value];
    const length = Array.from(q).length;
    if (!q.trim()) return showAnswer(null);
    if (!target) return showStatus("This language cannot be translated here.");
    const over = (length - limit).toLocaleString();
    if (length > limit) return showStatus(`${over} characters over the limit of ${limit.toLocaleString()}.`, true);
    const mine = (request = new AbortController());
    const slow = setTimeout(() => request === mine && showStatus("Translating …"), 400);
    texts.target.setAttribute("aria-busy", "true");
    try {
      const rows = glossary();
      const terms = rows ? { glossary: rows } : {};
      const body = { q, source, target, format: "text", ...terms };
      if (rates) body.quality = true;
      if ($("more").open) body.alternatives = ALTERNATIVES;
      const reply = await headway.request("translate", body, { signal: mine.signal, key: $("key").value });
      if (request !== mine) return;
      const found = reply.detectedLanguage?.language;
      const choices = [reply.translatedText, ...(reply.alternatives ?? [])]
        .map((text, i) => ({ text: String(text), sentences: i ? [] : reply.sentences }));
      showAnswer({ q, source: found ?? source, target, terms, ...choices[0] }, choices);
      const again = reply.sentences?.some(({ repaired }) => repaired.length);
      showStatus([
        ...(found ? [`Detected: ${nameOf(found)}`] : []),
        ...(reply.quality === undefined ? [] : [`Quality ${reply.quality.toFixed(2)}`]),
        ...(again ? ["a broken sentence was translated again"] : []),
      ].join(" · "));
    } catch (error) {
      if (request !== mine) return;
      showStatus(error.message + (error.wait ? ` Trying again in ${error.wait} s.` : ""), true);
      if (error.wait) timer = setTimeout(translate, error.wait * 1000);
    } finally {
      clearTimeout(slow);
      if (request === mine || !request) texts.target.removeAttribute("aria-busy");
    }
  }

  /** Switch a button off, and say why. */
  const gray = (id, off, reason, title = "") => Object.assign($(id), { disabled: off, title: off ? reason : title });

  function showStatus(message, wrong = false) {
    $("status").textContent = message;
    $("status").classList.toggle("wrong", wrong);
  }

  /** Show one of the translations of a text, and offer the others. */
  function showAnswer(found, choices = []) {
    const changed = found?.q !== answer?.q || found?.text !== answer?.text;
    answer = found;
    links = null;
    spans.target = headway.showWords(texts.target, found?.text ?? "");
    spans.target.forEach((span, i) => {
      span.tabIndex = i ? -1 : 0;
      span.setAttribute("role", "button"); // opens the attention
    });
    headway.showQuality(spans.target, found?.text ?? "", found?.sentences ?? []);
    texts.target.tabIndex = spans.target.length ? -1 : 0;
    for (const id of ["copy", "link", "show-attention"]) gray(id, !found, "There is no translation yet");
    const others = choices.filter(({ text }) => text !== found.text);
    $("alternatives").replaceChildren(...others.map((other) => {
      const button = headway.html("button", { type: "button" }, other.text);
      button.addEventListener("click", () => showAnswer({ ...found, ...other }, choices));
      return headway.html("li", {}, button);
    }));
    if (!found) showStatus("");
    if (changed && panel.isOpen()) panel.close();
  }

  function onInput() {
    const length = Array.from(texts.source.value).length;
    const most = limit < Infinity ? ` of ${limit.toLocaleString()}` : "";
    $("count").textContent = `${length.toLocaleString()}${most} character${length === 1 && !most ? "" : "s"}`;
    $("count").classList.toggle("wrong", length > limit);
    gray("clear", !length, "There is no text yet");
    spans.source = headway.showWords(texts.backdrop, texts.source.value);
    texts.backdrop.append("\u200b"); // gives an empty last line its height
    if (fragment().has("q")) headway.setFragment({ q: null });
    schedule();
  }

  // ---- words that belong together
  /** Return the pairs of words that belong together; one request for each answer. */
  function align() {
    if (!answer) return null;
    const { q, source, target, terms, text } = answer;
    links ??= headway.request("align", { q, source, target, ...terms }, { key: $("key").value }).then(
      // The server aligns the best translation, not an alternative.
      (reply) => (reply.translatedText === text ? reply.alignment : []),
      () => [],
    );
    return links;
  }

  let pointedAt = ""; // the newest word
  async function highlight(side, number) {
    pointedAt = `${side} ${number}`;
    const mine = pointedAt;
    const pairs = number === null ? [] : await align();
    if (mine !== pointedAt || !pairs || texts.source.value !== answer?.q) return clearHighlight();
    const [here, there] = side === "target" ? [1, 0] : [0, 1];
    const others = pairs.filter((pair) => pair[here] === number).map((pair) => pair[there]);
    const linked = { source: others, target: others, [side]: [number] };
    for (const name of ["source", "target"])
      spans[name].forEach((span, i) => span.classList.toggle("linked", linked[name].includes(i)));
    const words = (name) => linked[name].map((i) => spans[name][i]?.textContent ?? "").join(" ");
    const pair = others.length ? `${words("source")} → ${words("target")}` : "";
    const notes = [pair, spans.target[linked.target[0]]?.title].filter(Boolean);
    if (notes.length) showStatus(notes.join(" · "));
  }
  const clearHighlight = () => document.querySelectorAll(".linked").forEach((span) => span.classList.remove("linked"));

  const wordAt = (target) => (target.dataset?.word === undefined ? null : Number(target.dataset.word));
  texts.target.addEventListener("pointerover", (event) => highlight("target", wordAt(event.target)));
  texts.target.addEventListener("focusin", (event) => highlight("target", wordAt(event.target)));
  const clearPointer = () => highlight("target", null);
  texts.target.addEventListener("pointerleave", clearPointer);
  texts.source.addEventListener("pointerleave", clearPointer);
  texts.target.addEventListener("focusout", clearPointer);
  // A text area has no elements for its words. A copy behind it has them, in the same places.
  texts.source.addEventListener("pointermove", (event) => {
    const under = document.elementsFromPoint(event.clientX, event.clientY)
      .find((found) => texts.backdrop.contains(found) && wordAt(found) !== null);
    const number = under ? wordAt(under) : null;
    if (pointedAt !== `source ${number}`) highlight("source", number);
  });
  texts.source.addEventListener("keyup", (event) => {
    if (!/^(Arrow|Home|End|Page)/.test(event.key)) return;
    const at = texts.source.selectionStart;
    const number = headway.words(texts.source.value).findIndex(({ start, end }) => start <= at && at <= end);
    highlight("source", number < 0 ? null : number);
  });

  texts.target.addEventListener("keydown", (event) => {
    const here = wordAt(event.target);
    if (here === null) return;
    const last = spans.target.length - 1;
    const [before, after] = [here - 1, here + 1];
    const arrows = { ArrowLeft: before, ArrowUp: before, ArrowRight: after, ArrowDown: after };
    const to = { ...arrows, Home: 0, End: last }[event.key];
    if (event.key === "Enter" || event.key === " ") openAttention(here);
    else if (to === undefined) return;
    else {
      const next = spans.target[Math.max(0, Math.min(last, to))];
      spans.target[here].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
    event.preventDefault();
  });
  texts.target.addEventListener("click", (event) => {
    if (wordAt(event.target) !== null && !String(getSelection())) openAttention(wordAt(event.target));
  });

  /** Open the attention of the sentence that a word of the translation comes from. */
  async function openAttention(number) {
    const pairs = await align();
    if (!answer) return;
    const source = headway.words(answer.q);
    const target = headway.words(answer.text);
    const guess = Math.floor((number / target.length) * source.length);
    const from = pairs.find((pair) => pair[1] === number)?.[0] ?? guess;
    const at = source[from]?.start ?? 0;
    const sentence = headway.sentences(answer.q, answer.source).find(({ end }) => at < end);
    const within = pairs.filter((pair) => source[pair[0]]?.start >= (sentence?.start ?? 0));
    const first = Math.min(number, ...within.map((pair) => pair[1]));
    await panel.open({ at, word: { text: target[number].text, place: number - first } });
    $("panel").focus({ preventScroll: true });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    $("panel").scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }

  // ---- buttons
  async function copy(button, text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // browsers allow the clipboard with HTTPS only
      const field = headway.html("textarea", { value: text, className: "visually-hidden" });
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
      button.focus();
    }
    showStatus("Copied.");
  }
  $("copy").addEventListener("click", () => copy($("copy"), answer.text));
  $("link").addEventListener("click", () => {
    headway.setFragment({ q: answer.q });
    copy($("link"), location.href);
  });
  $("show-attention").addEventListener("click", () => openAttention(0));
  $("clear").addEventListener("click", () => {
    texts.source.value = "";
    onInput();
    texts.source.focus();
  });
  $("swap").addEventListener("click", () => {
    const [from, to] = [answer?.source ?? $("from").value, $("to").value];
    if (answer) texts.source.value = answer.text;
    chooseLanguages(to, from);
    onInput();
  });
  for (const id of ["from", "to"]) $(id).addEventListener("change", () => {
    chooseLanguages($("from").value, $("to").value);
    schedule(0);
  });
  $("more").addEventListener("toggle", () => $("more").open && answer && schedule(0));
  $("glossary").addEventListener("input", () => schedule(2 * PAUSE));
  $("key").addEventListener("change", () => schedule(0));
  $("key-field").addEventListener("submit", (event) => event.preventDefault());
  texts.source.addEventListener("input", onInput);

  // ---- start
  async function start() {
    let settings;
    try {
      [languages, settings] = await Promise.all([headway.request("languages"), headway.request("frontend/settings")]);
    } catch (error) {
      showStatus(error.message, true);
      if (error.wait) setTimeout(start, error.wait * 1000);
      return;
    }
    rates = settings.quality === true;
    if (settings.charLimit > 0) limit = settings.charLimit;
    files.configure(settings);
    $("key-field").hidden = !(settings.apiKeys || settings.keyRequired);
    const sources = languages.filter(({ code, targets }) => targets.some((other) => other !== code));
    const named = sources.map(({ code, name }) => [code, name]);
    if (sources.length > 1) named.unshift(["auto", "Detect language"]);
    $("from").replaceChildren(...named.map(option));
    const given = fragment();
    const preset = settings.language ?? {};
    const wanted = [given.get("source"), preset.source?.code, sources[0]?.code];
    const first = wanted.find((code) => offers($("from"), code));
    chooseLanguages(first, given.get("target") ?? preset.target?.code);
    if (given.has("q")) texts.source.value = given.get("q");
    const opened = Number(given.get("sentence"));
    if (texts.source.value) {
      onInput();
      clearTimeout(timer);
      await translate();
      if (opened && answer) panel.open({ index: opened - 1 });
    } else onInput();
  }
  start();
})(globalThis.headway);
