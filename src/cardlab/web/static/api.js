// Requests to the server; its errors are sentences for the visitor.

/** A refused request, with the server's sentence. */
export class Refusal extends Error {
  /**
   * @param {string} sentence
   * @param {number} status
   */
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/**
 * Return the JSON at an address, or throw a Refusal with the server's sentence.
 * @param {string} address
 * @returns {Promise<any>} what `Wire` says of this address
 */
export async function get(address) {
  return read(await reach(address, { headers: { Accept: "application/json" } }));
}

/**
 * Send JSON (or text as it is) and return the JSON answer.
 * @param {string} address
 * @param {unknown} body
 * @returns {Promise<any>} what `Wire` says of this address
 */
export async function post(address, body) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return read(
    await reach(address, {
      method: "POST",
      body: text,
      headers: { "Content-Type": "application/json" },
    }),
  );
}

/**
 * Fetch an address; the browser's own words for a broken connection differ and help nobody.
 * @param {string} address
 * @param {RequestInit} request
 */
export async function reach(address, request) {
  try {
    return await fetch(address, request);
  } catch {
    throw new Refusal("the server cannot be reached; check your connection and try again", 0);
  }
}

/** @param {Response} answer */
async function read(answer) {
  const body = await answer.json().catch(() => null);
  if (answer.ok) return body;
  const reason = body?.error ?? (typeof body?.detail === "string" ? body.detail : null);
  const status = `the server answered with status ${answer.status}; try again in a minute`;
  throw new Refusal(reason ?? status, answer.status);
}
