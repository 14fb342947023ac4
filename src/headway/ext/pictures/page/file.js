/* Start the page of one file: write its texts, and build the view from the data in the page. */
(function (headway) {
  "use strict";
  const json = JSON.parse(document.getElementById("data").textContent);
  document.title = `Attention: ${json.source}`;
  document.getElementById("source").textContent = json.source;
  document.getElementById("target").textContent = json.target;
  headway.attention(document.getElementById("view"), json, { fragment: true });
})(globalThis.headway);
