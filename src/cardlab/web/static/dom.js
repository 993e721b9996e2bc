// Small makers of elements: styles go through CSSOM, as the page's policy wants it.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with attributes, listeners (`on`), custom properties (`vars`) and children. */
export function h(tag, given = {}, ...children) {
  return fill(document.createElement(tag), given, children);
}

/** Return an SVG element. */
export function s(tag, given = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), given, children);
}

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (name === "vars") {
      for (const [key, one] of Object.entries(value)) element.style.setProperty(key, String(one));
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else if (name === "value" || name === "checked" || name === "selected") {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(
    ...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false),
  );
  return element;
}

/** Put children into an element instead of what was there. */
export function put(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false),
  );
  return element;
}

/** Return a button that does something. */
export function button(text, click, given = {}) {
  return h("button", { type: "button", class: "button", ...given, on: { click } }, text);
}

/** Return after some milliseconds. */
export const wait = (time) => new Promise((done) => setTimeout(done, time));

const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Return a name that is written from right to left so that it turns no words around it. */
export const isolated = (name) => (LEFTWARD.test(name) ? `\u2068${name}\u2069` : name);

/** Return a count with its noun: `1 card`, `3 cards`. */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Show a short sentence at the foot of the page for a while. */
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

/** Copy text; where the clipboard is closed, show it for copying by hand. */
export async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    window.prompt("Copy this:", text);
  }
}

/** Offer text as a file. */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Show a modal dialog and return what its buttons or Escape (null) answered. */
export function ask(title, body, choices = [], given = {}) {
  return new Promise((answer) => {
    const id = `dialog-${Math.random().toString(36).slice(2)}`;
    const dialog = h("dialog", { class: `dialog ${given.class ?? ""}`, "aria-labelledby": id });
    let answered = null;
    const close = (value) => {
      answered = value;
      dialog.close();
    };
    dialog.append(
      h("h2", { id }, title),
      ...(Array.isArray(body) ? body : [body]).filter(Boolean),
      h(
        "div",
        { class: `dialog-choices ${given.row ?? ""}` },
        choices.map((choice) =>
          button(choice.look ?? choice.text, () => close(choice.value), {
            class: `button ${choice.class ?? ""}`,
            autofocus: choice.first,
            "aria-label": choice.label,
            data: choice.data ?? {},
          }),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(answered);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog && given.easy !== false) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
    given.made?.(close);
  });
}
