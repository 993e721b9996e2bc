// The deal of one table: this browser's part in it, its label, and its proof after the game.

import { announce } from "./announce.js";
import { get } from "./api.js";
import { dealLabel, gatheringCard, proofPanel, verdictWords, waitingWords } from "./deal_panel.js";
import { h, put } from "./dom.js";
import { checkProof, hashOf, mayReveal } from "./fair_deal.js";
import { dealNumber, promisedDeal, tableMemory } from "./settings.js";

export class TableDeal {
  /** @type {Wire.Gathering | null} */
  gathering = null; // until the cards are dealt
  revealed = false; // the own number was sent on this line
  said = ""; // for whom the page waits
  label = h("span", { class: "deal-place" });
  place = h("div", { class: "gather" });
  proof = h("div", { class: "proof-place" });

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /**
   * Show who is missing; send the own number once all others are fixed.
   * @param {Wire.Gathering} data
   * @param {string[]} names
   * @param {Page.Line} line
   */
  gather(data, names, line) {
    const { deal, seat, seats } = data;
    this.gathering = data;
    this.showLabel(deal, seat, names);
    const promised = promisedDeal(this.id, deal, deal.reveal).server;
    const links = tableMemory(this.id).links ?? [];
    put(this.place, gatheringCard(data, names, links, this.trouble(deal, seat, promised)));
    const words = waitingWords(data, names);
    if (words !== this.said) announce(words);
    this.said = words;
    const number = dealNumber(this.id);
    if (seat === null || !number || this.revealed || !deal.waiting_for.includes(seat)) return;
    if (mayReveal(deal, seats, seat, number, promised))
      this.revealed = line.send({ type: "share", share: number });
  }

  /**
   * Take what a view says of the deal; the first one ends the gathering.
   * @param {Wire.View} view
   * @param {string[]} names
   */
  begin(view, names) {
    const { deal } = view.table;
    if (this.gathering) {
      this.gathering = null;
      put(this.place);
      announce("The cards are dealt");
    }
    if (deal.commitment && !view.over) promisedDeal(this.id, deal, true);
    this.showLabel(deal, view.seat, names);
  }

  /**
   * Check a deal whose game is over, and show what was found.
   * @param {Wire.Proof} proof
   * @param {number | null} seat
   * @param {string[]} names
   */
  async prove(proof, seat, names) {
    /** @type {string[] | null} */
    const decks = await get(`/api/tables/${encodeURIComponent(this.id)}/record`).then(
      (record) => record.deals,
      () => null,
    );
    const known = { number: dealNumber(this.id), promised: tableMemory(this.id).promised ?? null };
    const checks = checkProof(proof, known, seat, decks);
    put(this.proof, proofPanel(proof, checks, names));
    announce(verdictWords(checks));
  }

  /**
   * Return why this browser cannot do its part.
   * @param {Wire.Deal} deal
   * @param {number | null} seat
   * @param {string | null} promised
   */
  trouble(deal, seat, promised) {
    if (deal.commitment !== promised)
      return "The server has exchanged its number: do not play at this table.";
    if (this.isForeign(deal, seat))
      return "The number of your seat was drawn in another browser, and only that one can send it. Open the seat’s link there, or open a new table.";
    return null;
  }

  /**
   * Return whether the number of the own seat was drawn by somebody else.
   * @param {Wire.Deal} deal
   * @param {number | null} seat
   */
  isForeign(deal, seat) {
    const number = dealNumber(this.id);
    if (seat === null || deal.kind !== "fair" || !number) return false;
    return deal.commitments[seat] !== hashOf(number);
  }

  /**
   * @param {Wire.Deal} deal
   * @param {number | null} seat
   * @param {string[]} names
   */
  showLabel(deal, seat, names) {
    const key = JSON.stringify([deal.kind, deal.commitments, names]);
    if (this.label.dataset.key === key) return;
    this.label.dataset.key = key;
    put(this.label, dealLabel(deal, names, !this.gathering && this.isForeign(deal, seat)));
  }
}
