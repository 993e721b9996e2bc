// The deal of one table: this browser's number, the label, and the checks after the game.

import { announce } from "./announce.js";
import { get } from "./api.js";
import { dealLabel, gatheringCard, proofPanel, verdictWords, waitingWords } from "./deal_panel.js";
import { h, put } from "./dom.js";
import { checkProof, hashOf, mayReveal } from "./fair_deal.js";
import { dealNumber, promisedDeal, tableMemory } from "./settings.js";

export class TableDeal {
  /** @type {Wire.Gathering | null} */
  gathering = null; // the latest message before the cards are dealt
  revealed = false; // whether the own number was sent on this connection
  announced = ""; // the last announcement
  label = h("span", { class: "deal-place" });
  place = h("div", { class: "gather" });
  proof = h("div", { class: "proof-place" });

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /**
   * Show who is missing; send the own number once all hashes are known.
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
    if (words !== this.announced) announce(words);
    this.announced = words;
    const number = dealNumber(this.id);
    if (seat === null || !number || this.revealed || !deal.waiting_for.includes(seat)) return;
    if (mayReveal(deal, seats, seat, number, promised))
      this.revealed = line.send({ type: "share", share: number });
  }

  /**
   * Show the deal of a view; the first view means that the cards are dealt.
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
   * Check the deal of a finished game, and show the result.
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
   * Return why this browser cannot take part in the deal, or null.
   * @param {Wire.Deal} deal
   * @param {number | null} seat
   * @param {string | null} promised
   */
  trouble(deal, seat, promised) {
    if (deal.commitment !== promised)
      return "The server has changed its secret number after it was fixed. Do not play at this table; open a new one.";
    if (this.isForeign(deal, seat))
      return "The secret number of your seat was drawn by another browser, and only that browser can send it. Open the link of the seat there, or open a new table.";
    return null;
  }

  /**
   * Return whether the number of the own seat was drawn by another browser.
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
