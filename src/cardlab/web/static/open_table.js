// Opens a new table on the server and remembers it in this browser.

import { post } from "./api.js";
import { rememberTable } from "./settings.js";

/**
 * Open a table, remember its secrets and settings, and return its address.
 * @param {Wire.NewTable} setup
 * @param {Wire.GamePage} page the game's page, to be loaded early next time
 * @param {number} seat
 */
export async function openTable(setup, page, seat = firstPerson(setup)) {
  /** @type {Wire.Opened} */
  const made = await post("/api/tables", setup);
  const links = made.seats.filter((link) => link.secret && link.seat !== seat);
  rememberTable(made.id, {
    secret: made.seats[seat]?.secret ?? null,
    links,
    setup,
    seat,
    page,
  });
  return `/table/${made.id}`;
}

/** @param {Wire.NewTable} setup */
const firstPerson = (setup) => setup.seats.findIndex((entry) => "person" in entry && entry.person);
