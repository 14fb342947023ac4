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

  /** Return the answer to a request. The body is a form or becomes JSON; options are {signal, key, isFile}. */
  async function request(path, body, { signal, key, isFile } = {}) {
    const options = { signal, headers: {} };
    if (key) {
      const bytes = new TextEncoder().encode(key); // a header has no other characters than bytes
      options.headers.Authorization = `Bearer ${String.fromCharCode(...bytes)}`;
    }
    if (body) {
      options.method = "POST";
      const isForm = body instanceof FormData;
      if (!isForm) options.headers["Content-Type"] = "application/json";
      options.body = isForm ? body : JSON.stringify(body);
    }
    let reply;
    try {
      reply = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new RequestError("The server does not answer.", 5);
    }
    if (reply.ok && isFile) return reply.blob();
    if (reply.status === 204) return null;
    const answer = await reply.json().catch(() => null);
    if (reply.ok && answer) return answer;
    const given = answer?.error ?? answer?.message;
    const reason = typeof given === "string" ? given : "";
    if (reply.status === 429 || reply.status === 503) {
      const wait = Math.min(120, Math.max(1, Number(reply.headers.get("Retry-After")) || 5));
      throw new RequestError("The server is busy.", wait);
    }
    throw new RequestError(reason || `The server failed (${reply.status}).`);
  }

  Object.assign(headway, { request });
})((globalThis.headway ??= {}));
