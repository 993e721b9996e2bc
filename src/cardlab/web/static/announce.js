// Announcements for screen readers: sentences that come together are joined.

/** @type {string[]} */
let waiting = [];

/**
 * Announce a sentence without interrupting the screen reader.
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
