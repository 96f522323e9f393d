// Before and after with a divider between them, or their difference.

import { clamp, drag, el } from "./dom.js";

/** Share of the view that a zoomed face takes. */
const FACE = 0.6;
const MAX_ZOOM = 16;
/** Distance from the divider at which the name of a side is hidden, in pixels. */
const NEAR = 80;

/** A view of two pictures of the same size; `faces` are named boxes to zoom in on. */
export function viewer(before, after, [width, height], faces) {
  const images = [el("img", { src: before, alt: "Before", draggable: false }), el("img", { src: after, alt: "After", className: "after", draggable: false })];
  const stage = el("div", { className: "stage" }, ...images);
  const scroll = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Photo, before and after; scroll to move it" }, stage);
  const divider = el("div", { className: "divider", tabIndex: 0, role: "slider", "aria-label": "Divider: before on its left, after on its right",
    "aria-valuemin": 0, "aria-valuemax": 100 });
  const tags = [el("span", { className: "tag left" }, "Before"), el("span", { className: "tag right" }, "After")];
  const frame = el("div", { className: "viewer" }, scroll, divider, ...tags);
  frame.style.setProperty("--shape", width / height);
  let share = 0.5;
  let zoom = 1;
  /** The point in the middle of the view, in shares of the photo, and the last size of the view. */
  let centre = [0.5, 0.5];
  let size = [0, 0];
  const isDifference = () => frame.classList.contains("difference");

  const show = () => {
    const at = share * scroll.clientWidth;
    divider.style.left = `${at}px`;
    const percent = Math.round(100 * share);
    divider.setAttribute("aria-valuenow", percent);
    divider.setAttribute("aria-valuetext", `${percent} % before`);
    const cut = Math.max(0, scroll.scrollLeft + at - stage.offsetLeft);
    images[1].style.clipPath = isDifference() ? "none" : `inset(0 0 0 ${cut}px)`;
    tags[0].hidden = isDifference() || at < NEAR;
    tags[1].hidden = isDifference() || scroll.clientWidth - at < NEAR;
  };
  const place = (value) => {
    share = clamp(value, 0, 1);
    show();
  };
  divider.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    divider.focus();
    drag(event, ({ clientX }) => place((clientX - scroll.getBoundingClientRect().left) / scroll.clientWidth));
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.02, ArrowDown: -0.02, ArrowRight: 0.02, ArrowUp: 0.02, PageDown: -0.1, PageUp: 0.1 }[event.key];
    const to = { Home: 0, End: 1 }[event.key];
    if (step === undefined && to === undefined) return;
    event.preventDefault();
    place(to ?? share + step);
  });

  scroll.addEventListener("scroll", () => {
    // A view scrolls by itself when its size changes.
    if (size[0] === scroll.clientWidth && size[1] === scroll.clientHeight) {
      centre = [
        (scroll.scrollLeft + scroll.clientWidth / 2) / stage.offsetWidth,
        (scroll.scrollTop + scroll.clientHeight / 2) / stage.offsetHeight,
      ];
    }
    show();
  });
  scroll.addEventListener("pointerdown", (event) => {
    // Touch scrolls without help.
    if (event.button !== 0 || event.pointerType !== "mouse" || zoom === 1) return;
    const [x, y] = [event.clientX + scroll.scrollLeft, event.clientY + scroll.scrollTop];
    drag(event, ({ clientX, clientY }) => scroll.scrollTo(x - clientX, y - clientY));
  });
  /** Applies the zoom, and scrolls the centre to the middle of the view. */
  const settle = () => {
    const whole = Math.min(scroll.clientWidth, scroll.clientHeight * (width / height));
    stage.style.width = `${whole * zoom}px`;
    size = [scroll.clientWidth, scroll.clientHeight];
    scroll.scrollLeft = centre[0] * stage.offsetWidth - size[0] / 2;
    scroll.scrollTop = centre[1] * stage.offsetHeight - size[1] / 2;
    show();
  };
  new ResizeObserver(settle).observe(frame);

  /** Zooms, with a point of the photo in the middle. */
  const look = (to, point = centre) => {
    zoom = clamp(to, 1, MAX_ZOOM);
    centre = point;
    scroll.classList.toggle("near", zoom > 1);
    out.disabled = zoom === 1;
    into.disabled = zoom === MAX_ZOOM;
    settle();
  };
  const button = (words, onclick, more = {}) => el("button", { type: "button", onclick, ...more }, words);
  const out = button("−", () => look(zoom / 1.5), { "aria-label": "Zoom out", disabled: true });
  const into = button("+", () => look(zoom * 1.5), { "aria-label": "Zoom in" });
  const difference = button("Difference", () => {
    const on = frame.classList.toggle("difference");
    difference.setAttribute("aria-pressed", on);
    divider.hidden = on;
    legend.hidden = !on;
    show();
  }, { "aria-pressed": "false" });
  const legend = el("span", { className: "legend", hidden: true }, "How much each pixel changed, multiplied by eight; black means not at all.");
  const near = faces.map(({ box: [x, y, w, h], name }) => button(name, () => {
    const whole = stage.offsetWidth / zoom;
    const fit = Math.min(scroll.clientWidth / w, scroll.clientHeight / h) * (width / whole);
    look(FACE * fit, [(x + w / 2) / width, (y + h / 2) / height]);
  }));
  const tools = el("div", { className: "tools", role: "group", "aria-label": "View" },
    button("Whole photo", () => look(1)), out, into, ...near, difference, legend);
  return el("div", {}, frame, tools);
}
