// What screen readers say: short sentences, joined when they come together.

/** @type {string[]} */
let waiting = [];

/**
 * Say a sentence politely.
 * @param {string} text
 */
export function announce(text) {
  if (!text) return;
  waiting.push(text);
  if (waiting.length === 1) {
    setTimeout(() => {
      const place = document.getElementById("live");
      if (place) place.textContent = waiting.slice(-12).join(". ");
      waiting = [];
    }, 60);
  }
}
