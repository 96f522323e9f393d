// Before and after, with a divider between them; or their difference.

import { drag, el } from "./dom.js";

/** Widest view of a face, as a share of the window. */
const FACE = 0.45;
const MOST = 16;

/** A view of two pictures of the same size; `faces` are named boxes that can be looked at closely. */
export function viewer(before, after, [width, height], faces) {
  const images = [el("img", { src: before, alt: "Before" }), el("img", { src: after, alt: "After", className: "after" })];
  const stage = el("div", { className: "stage" }, ...images);
  const scroll = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Photo, before and after; scroll to move it" }, stage);
  const divider = el("div", { className: "divider", tabIndex: 0, role: "slider", "aria-label": "Divider: before on its left, after on its right",
    "aria-valuemin": 0, "aria-valuemax": 100 });
  const tags = [el("span", { className: "tag left" }, "Before"), el("span", { className: "tag right" }, "After")];
  const frame = el("div", { className: "viewer" }, scroll, divider, ...tags);
  // As large as it can be and still show the whole photo.
  frame.style.aspectRatio = `${width} / ${height}`;
  frame.style.setProperty("--shape", width / height);
  let share = 0.5;
  let zoom = 1;
  /** The point in the middle of the view, in shares of the photo. */
  let centre = [0.5, 0.5];

  const show = () => {
    divider.style.left = `${100 * share}%`;
    const percent = Math.round(100 * share);
    divider.setAttribute("aria-valuenow", percent);
    divider.setAttribute("aria-valuetext", `${percent} % before`);
    const cut = Math.max(0, scroll.scrollLeft + share * scroll.clientWidth - stage.offsetLeft);
    images[1].style.clipPath = frame.classList.contains("difference") ? "none" : `inset(0 0 0 ${cut}px)`;
    tags[0].hidden = share < 0.12 || frame.classList.contains("difference");
    tags[1].hidden = share > 0.88 || frame.classList.contains("difference");
  };
  const place = (value) => {
    share = Math.min(Math.max(value, 0), 1);
    show();
  };
  divider.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    divider.focus();
    drag(event, ({ clientX }) => {
      const { left, width } = frame.getBoundingClientRect();
      place((clientX - left) / width);
    });
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.02, ArrowDown: -0.02, ArrowRight: 0.02, ArrowUp: 0.02, PageDown: -0.1, PageUp: 0.1 }[event.key];
    const to = { Home: 0, End: 1 }[event.key];
    if (step === undefined && to === undefined) return;
    event.preventDefault();
    place(to ?? share + step);
  });
  scroll.addEventListener("scroll", () => {
    centre = [
      (scroll.scrollLeft + scroll.clientWidth / 2) / stage.offsetWidth,
      (scroll.scrollTop + scroll.clientHeight / 2) / stage.offsetHeight,
    ];
    show();
  });
  /** Brings the centre to the middle of the view, whatever its size has become. */
  const settle = () => {
    scroll.scrollLeft = centre[0] * stage.offsetWidth - scroll.clientWidth / 2;
    scroll.scrollTop = centre[1] * stage.offsetHeight - scroll.clientHeight / 2;
    show();
  };
  new ResizeObserver(settle).observe(frame);

  /** Shows the photo so large, with a point of it in the middle. */
  const look = (to, point = centre) => {
    zoom = Math.min(Math.max(to, 1), MOST);
    centre = point;
    stage.style.width = `${100 * zoom}%`;
    out.disabled = zoom === 1;
    into.disabled = zoom === MOST;
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
  const legend = el("span", { className: "legend", hidden: true }, "How much each point changed, eight times as strong; black: not at all.");
  const near = faces.map(({ box: [x, y, w, h], name }) => button(name, () =>
    look(FACE * Math.min(width / w, height / h), [(x + w / 2) / width, (y + h / 2) / height])));
  const tools = el("div", { className: "tools", role: "group", "aria-label": "View" },
    button("Whole photo", () => look(1)), out, into, ...near, difference, legend);
  show();
  return el("div", {}, frame, tools);
}
