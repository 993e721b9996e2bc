// Requests to the server; its errors are sentences for people.

/** An answer that says why not. */
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
 * Return the JSON answer of an address, or throw a Refusal with the server's sentence.
 * @param {string} address
 * @returns {Promise<any>} what `Wire` says of this address
 */
export async function get(address) {
  return read(await fetch(address, { headers: { Accept: "application/json" } }));
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
    await fetch(address, {
      method: "POST",
      body: text,
      headers: { "Content-Type": "application/json" },
    }),
  );
}

/** @param {Response} answer */
async function read(answer) {
  const body = await answer.json().catch(() => null);
  if (answer.ok) return body;
  const why = body?.error ?? (typeof body?.detail === "string" ? body.detail : null);
  throw new Refusal(why ?? `the server answered ${answer.status}; try again`, answer.status);
}
