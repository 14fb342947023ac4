/* Questions to the server. Addresses are relative, so that the page may live under any path. What goes
 * wrong is said in words: the error's message is for people. */
(function (headway) {
  "use strict";

  class Refusal extends Error {
    constructor(message, wait) {
      super(message);
      this.wait = wait; // seconds after which asking again may help, or undefined
    }
  }

  async function ask(path, body, signal) {
    const asked = { signal };
    if (body) {
      asked.method = "POST";
      asked.headers = { "Content-Type": "application/json" };
      asked.body = JSON.stringify(body);
    }
    let reply;
    try {
      reply = await fetch(path, asked);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refusal("The server does not answer.", 5);
    }
    const answer = await reply.json().catch(() => null);
    if (reply.ok && answer) return answer;
    const reason = typeof answer?.error === "string" ? answer.error : "";
    if (reply.status === 429 || reply.status === 503) {
      const wait = Math.min(120, Math.max(1, Number(reply.headers.get("Retry-After")) || 5));
      throw new Refusal("The server is busy.", wait);
    }
    throw new Refusal(reason || `The server failed (${reply.status}).`);
  }

  Object.assign(headway, { ask });
})((globalThis.headway ??= {}));
