/* Files: a file is sent, its translation goes on at the server, and the browser saves it when it is done.
 * A file that the user closes, or replaces by another one, is given up.
 * headway.files(context) returns {configure}; context() returns {source, target, glossary, key},
 * or throws an error that is shown. */
(function (headway) {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const PAUSE = 700; // milliseconds between two questions about a file
  const TABLES = /\.[ct]sv$/i;

  function files(context) {
    let request = null; // the newest file; an older one is given up
    let rates = false; // whether the server says how good translations are

    function show(message, { wrong = false, done = null } = {}) {
      $("file-status").textContent = message;
      $("file-status").classList.toggle("wrong", wrong);
      $("file-progress").hidden = done === null;
      if (done === null) return;
      if (done > 0) $("file-progress").value = done;
      else $("file-progress").removeAttribute("value"); // how far it is is not known
    }

    /** Offer the fields that a chosen file needs, or translate it at once. */
    function choose(file) {
      if (!file) return;
      request?.abort();
      $("file-panel").hidden = false;
      $("file-name").textContent = file.name;
      hideLinks();
      $("columns-field").hidden = !TABLES.test(file.name);
      if (!TABLES.test(file.name)) translate(file);
      else {
        show("Which columns are to be translated?");
        $("columns").focus();
      }
    }

    async function translate(file) {
      request?.abort();
      const mine = (request = new AbortController());
      hideLinks();
      let given;
      try {
        given = context();
      } catch (error) { // a line of the glossary
        return show(error.message, { wrong: true });
      }
      const { source, target, glossary, key } = given;
      const form = new FormData();
      form.append("file", file, file.name);
      form.append("target_lang", target);
      if (source !== "auto") form.append("source_lang", source);
      if (glossary) form.append("glossary", glossary);
      if ($("columns").value.trim() && TABLES.test(file.name)) form.append("columns", $("columns").value);
      if (rates) form.append("quality", "true");
      const options = { signal: mine.signal, key };
      let address = "";
      let secret = null;
      show("Sending …", { done: 0 });
      try {
        const sent = await headway.request("v2/document", form, options);
        secret = { document_key: sent.document_key };
        address = `v2/document/${encodeURIComponent(sent.document_id)}`;
        const { quality } = await wait(address, secret, options);
        const blob = await ask(`${address}/result`, secret, { ...options, isFile: true });
        const name = file.name.replace(/(\.[^.]*)$/, `.${target}$1`);
        offer("file-save", blob, name, `Save ${name}`);
        show(quality === undefined ? "Done." : `Done. Quality ${quality.toFixed(2)}`);
        $("file-save").click();
        if (quality === undefined) return;
        const table = await ask(`${address}/quality`, secret, { ...options, isFile: true });
        offer("file-quality", table, `${name}.quality.tsv`, "Save the quality of each sentence");
        // The table has the worst sentence first; cells with quotes have quotes around them.
        const rows = (await table.text()).trim().split("\n").slice(1, 11).map((row) => row.split("\t"));
        const cell = (text) => (text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text);
        $("file-worst").replaceChildren(...rows.map(([quality, , , , from, to]) =>
          headway.html("li", {}, `${Number(quality).toFixed(2)} · ${cell(from)} → ${cell(to)}`)));
      } catch (error) {
        if (error.name !== "AbortError") show(error.message, { wrong: true });
        else if (address) headway.request(`${address}/cancel`, secret, { key }).catch(() => {});
      }
    }

    /** Return the answer to a request; while the server is busy, wait as long as it says: the file goes on. */
    async function ask(address, secret, options) {
      for (;;) {
        try {
          const answer = await headway.request(address, secret, options);
          options.signal.throwIfAborted();
          return answer;
        } catch (error) {
          if (!error.wait) throw error;
          await pause(1000 * error.wait, options);
        }
      }
    }

    const pause = (milliseconds, { signal }) =>
      new Promise((resolve) => setTimeout(resolve, milliseconds)).then(() => signal.throwIfAborted());

    /** Ask how far a file is until it is done; return the last answer. */
    async function wait(address, secret, options) {
      for (const started = Date.now(); ; ) {
        await pause(PAUSE, options);
        const state = await ask(address, secret, options);
        if (state.status === "error") throw new Error(state.error_message);
        if (state.status === "done") return state;
        const left = state.seconds_remaining;
        const spent = (Date.now() - started) / 1000;
        const known = left === undefined ? "" : ` About ${left} s are left.`;
        const message = state.status === "queued" ? "Waiting for other files …" : `Translating …${known}`;
        show(message, { done: left === undefined ? 0 : spent / (spent + left) });
      }
    }

    /** Show a link that saves a file. */
    function offer(id, blob, name, text) {
      const link = $(id);
      URL.revokeObjectURL(link.href);
      Object.assign(link, { href: URL.createObjectURL(blob), download: name, textContent: text, hidden: false });
    }

    function hideLinks() {
      for (const id of ["file-save", "file-quality"]) $(id).hidden = true;
      $("file-worst").replaceChildren();
    }

    $("file-button").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => choose($("file").files[0]));
    $("columns-field").addEventListener("submit", (event) => {
      event.preventDefault();
      if ($("file").files[0]) translate($("file").files[0]);
    });
    $("file-close").addEventListener("click", () => {
      request?.abort();
      $("file-panel").hidden = true;
      $("file").value = ""; // so that the same file can be chosen again
      $("file-button").focus();
    });
    document.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length || $("file-button").hidden) return;
      event.preventDefault();
      $("file").files = event.dataTransfer.files;
      choose(event.dataTransfer.files[0]);
    });

    /** Offer files, if the server takes them. */
    function configure(settings) {
      rates = settings.quality === true;
      $("file-button").hidden = !settings.filesTranslation;
      $("file").accept = (settings.supportedFilesFormat ?? []).join();
    }

    return { configure };
  }

  Object.assign(headway, { files });
})((globalThis.headway ??= {}));
