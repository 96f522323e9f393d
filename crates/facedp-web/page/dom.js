// Elements and pointers.

/** An element with properties, attributes (`aria-...`, `data-...`, `role`), listeners (`onclick`) and children. */
export function el(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const clamp = (value, min, max) => Math.min(Math.max(value, min), max);

export const $ = (id) => document.getElementById(id);

/** Follows a pressed pointer; `end` gets whether it was released (true) or cancelled (false). */
export function drag(event, move, end = () => {}) {
  const target = event.currentTarget;
  target.setPointerCapture(event.pointerId);
  const stop = ({ type }) => {
    target.removeEventListener("pointermove", move);
    target.removeEventListener("pointerup", stop);
    target.removeEventListener("pointercancel", stop);
    end(type === "pointerup");
  };
  target.addEventListener("pointermove", move);
  target.addEventListener("pointerup", stop);
  target.addEventListener("pointercancel", stop);
}
