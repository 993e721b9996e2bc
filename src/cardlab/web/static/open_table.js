// A new table: asked of the server, remembered in this browser.

import { post } from "./api.js";
import { rememberTable } from "./settings.js";

/**
 * Ask the server for a table, keep what belongs to it, and return its address.
 * @param {Wire.NewTable} setup
 * @param {Wire.GamePage} page what the table will be drawn with
 * @param {number} seat
 */
export async function openTable(setup, page, seat = firstPerson(setup)) {
  /** @type {Wire.Opened} */
  const made = await post("/api/tables", setup);
  const links = made.seats.filter((one) => one.secret && one.seat !== seat);
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
const firstPerson = (setup) => setup.seats.findIndex((one) => "person" in one && one.person);
