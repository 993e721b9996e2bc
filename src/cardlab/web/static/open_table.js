// A new table: asked of the server, remembered in this browser.

import { post } from "./api.js";
import { rememberTable } from "./settings.js";

/** Ask the server for a table, keep what belongs to it, and return its address. */
export async function openTable(setup, seat = firstPerson(setup)) {
  const made = await post("/api/tables", setup);
  const links = made.seats.filter((one) => one.secret && one.seat !== seat);
  rememberTable(made.id, {
    secret: made.seats[seat]?.secret ?? null,
    links,
    setup,
    seat,
    game: setup.game,
  });
  return `/table/${made.id}`;
}

const firstPerson = (setup) => setup.seats.findIndex((one) => one.person);
