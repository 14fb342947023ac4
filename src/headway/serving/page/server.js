/* Requests to the server. Addresses are relative, so that the page works under any path. The message of
 * an error is a sentence for the user. */
(function (headway) {
  "use strict";

  class RequestError extends Error {
    constructor(message, wait) {
      super(message);
      this.wait = wait; // seconds until a new request may succeed, or undefined
    }
  }

  async function request(path, body, signal) {
    const options = { signal };
    if (body) {
      options.method = "POST";
      options.headers = { "Content-Type": "application/json" };
      options.body = JSON.stringify(body);
    }
    let reply;
    try {
      reply = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new RequestError("The server does not answer.", 5);
    }
    const answer = await reply.json().catch(() => null);
    if (reply.ok && answer) return answer;
    const reason = typeof answer?.error === "string" ? answer.error : "";
    if (reply.status === 429 || reply.status === 503) {
      const wait = Math.min(120, Math.max(1, Number(reply.headers.get("Retry-After")) || 5));
      throw new RequestError("The server is busy.", wait);
    }
    throw new RequestError(reason || `The server failed (${reply.status}).`);
  }

  Object.assign(headway, { request });
})((globalThis.headway ??= {}));
