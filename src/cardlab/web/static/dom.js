// Functions that make elements; styles are set through CSSOM, as the content security policy needs.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an element with attributes, listeners (`on`), custom properties (`vars`) and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Page.Given<HTMLElementTagNameMap[Tag]>} [given]
 * @param {Page.Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, given = {}, ...children) {
  return fill(document.createElement(tag), given, children);
}

/**
 * Return an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Page.Given<SVGElementTagNameMap[Tag]>} [given]
 * @param {Page.Child[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, given = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), given, children);
}

/**
 * @template {HTMLElement | SVGElement} Kind
 * @param {Kind} element
 * @param {Page.Given<Kind>} given
 * @param {Page.Child[]} children
 */
function fill(element, { on = {}, vars = {}, data = {}, ...attributes }, children) {
  for (const [event, listener] of Object.entries(on))
    element.addEventListener(event, /** @type {EventListener} */ (listener));
  for (const [key, entry] of Object.entries(vars)) element.style.setProperty(key, String(entry));
  for (const [key, entry] of Object.entries(data)) element.dataset[key] = String(entry);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "value" || name === "checked" || name === "selected") {
      Object.assign(element, { [name]: value });
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...flat(children));
  return element;
}

/**
 * @param {Page.Child} child
 * @returns {(string | Node)[]}
 */
function flat(child) {
  if (child === null || child === undefined || child === false) return [];
  return typeof child === "string" || child instanceof Node ? [child] : child.flatMap(flat);
}

/**
 * Put children into an element instead of what was there.
 * @param {Element} element
 * @param {Page.Child[]} children
 */
export function put(element, ...children) {
  element.replaceChildren(...flat(children));
}

/**
 * Return a button that does something.
 * @param {Page.Child} text
 * @param {() => unknown} click
 * @param {Page.Given<HTMLButtonElement>} [given]
 */
export function button(text, click, given = {}) {
  return h("button", { type: "button", class: "button", ...given, on: { click } }, text);
}

/**
 * Return after some milliseconds.
 * @param {number} time
 */
export const wait = (time) => new Promise((done) => setTimeout(done, time));

const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * Return a name written from right to left, isolated from the text around it.
 * @param {string} name
 */
export const isolated = (name) => (LEFTWARD.test(name) ? `\u2068${name}\u2069` : name);

/**
 * Return a count with its noun: `1 card`, `3 cards`.
 * @param {number} number
 * @param {string} noun
 */
export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/**
 * Show a short sentence at the bottom of the page for six seconds.
 * @param {string} text
 * @param {"" | "bad"} [kind]
 */
export function toast(text, kind = "") {
  let place = document.querySelector(".toasts");
  if (!place) {
    place = h("div", { class: "toasts", role: "alert" });
    document.body.append(place);
  }
  const note = h("div", { class: `toast ${kind}` }, text);
  place.append(note);
  setTimeout(() => note.remove(), 6000);
}

/**
 * Copy text; without access to the clipboard, show it for copying by hand.
 * @param {string} text
 * @param {string} done
 */
export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    window.prompt("Press Ctrl-C to copy:", text);
  }
}

/**
 * Offer text as a file.
 * @param {string} name
 * @param {string} text
 */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * Return the message of an error.
 * @param {unknown} error
 */
export const reasonOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * Return a message with a capital and a full stop.
 * @param {string} text
 */
export const sentence = (text) => `${capital(text)}${/[.?!]$/.test(text) ? "" : "."}`;

/**
 * Show a modal dialog and return the value of the button that was pressed; Escape gives null.
 * @template Value
 * @param {string} title
 * @param {Page.Child} body
 * @param {Page.Answer<Value>[]} choices
 * @param {Page.DialogGiven<Value>} [given]
 * @returns {Promise<Value | null>}
 */
export function ask(title, body, choices, given = {}) {
  return new Promise((answer) => {
    const id = `dialog-${Math.random().toString(36).slice(2)}`;
    const dialog = h("dialog", { class: `dialog ${given.class ?? ""}`, "aria-labelledby": id });
    /** @type {Value | null} */
    let answered = null;
    const close = (/** @type {Value | null} */ value) => {
      answered = value;
      dialog.close();
    };
    put(
      dialog,
      h("h2", { id }, title),
      body,
      h(
        "div",
        { class: `dialog-choices ${given.row ?? ""}` },
        choices.map((choice) =>
          button(choice.look ?? choice.text, () => close(choice.value), {
            class: `button ${choice.class ?? ""}`,
            autofocus: choice.first,
            "aria-label": choice.label,
            data: choice.data,
          }),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(answered);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
    given.made?.(close);
  });
}
