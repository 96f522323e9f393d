// Quality against budget, as a chart.

import { el } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const HEIGHT = 320;
const BORDER = { left: 44, right: 96, top: 12, bottom: 40 };

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Draws the curves of `/plan`. */
export function chart(curves) {
  const { epsilons, methods, features } = curves;
  const values = methods.flatMap((method) => method.psnr);
  const [low, high] = [Math.floor(Math.min(...values) / 10) * 10, Math.ceil(Math.max(...values) / 10) * 10];
  const logs = epsilons.map(Math.log);
  const x = (epsilon) => BORDER.left +
    ((Math.log(epsilon) - logs[0]) / (logs.at(-1) - logs[0])) * (WIDTH - BORDER.left - BORDER.right);
  const y = (psnr) => HEIGHT - BORDER.bottom - ((psnr - low) / (high - low)) * (HEIGHT - BORDER.top - BORDER.bottom);

  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label":
    `PSNR of the expected change against epsilon for ${methods.length} methods; the table below has the numbers` });
  for (let level = low; level <= high; level += 10) {
    drawing.append(svg("line", { class: "grid", x1: BORDER.left, x2: WIDTH - BORDER.right, y1: y(level), y2: y(level) }),
      svg("text", { x: BORDER.left - 8, y: y(level) + 4, "text-anchor": "end" }, level));
  }
  for (const epsilon of epsilons) {
    drawing.append(svg("text", { x: x(epsilon), y: HEIGHT - BORDER.bottom + 18, "text-anchor": "middle" }, epsilon));
  }
  drawing.append(
    svg("text", { x: (BORDER.left + WIDTH - BORDER.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "epsilon"),
    svg("text", { x: 4, y: 10 }, "dB"));
  // Names at the right must not overlap.
  const ends = methods.map((method, n) => ({ n, at: y(method.psnr.at(-1)) })).sort((a, b) => a.at - b.at);
  ends.forEach((end, k) => { if (k > 0) end.at = Math.max(end.at, ends[k - 1].at + 14); });
  for (const { n, at } of ends) {
    const { name, psnr } = methods[n];
    const points = psnr.map((value, k) => `${x(epsilons[k])},${y(value)}`).join(" ");
    drawing.append(svg("polyline", { class: `line line-${n}`, points }),
      svg("text", { x: WIDTH - BORDER.right + 6, y: at + 4 }, name));
  }
  const head = el("tr", {}, el("th", { scope: "col" }, "method"), ...epsilons.map((e) => el("th", { scope: "col" }, `${e}`)));
  const rows = methods.map(({ name, psnr }) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...psnr.map((value) => el("td", {}, value.toFixed(1)))));
  return [
    el("p", {}, `How much a face is expected to change (PSNR in dB: higher is less change) for each epsilon, with ${features} features. ` +
      "For the paper's methods, epsilon follows the paper's formula and guarantees nothing; for certified it is a guarantee, " +
      "for what is inside the outline of the face. The two are different units. Misleading recognisers has no such curve: it depends on the photo."),
    el("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "The chart" }, drawing),
    el("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "The numbers" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))),
  ];
}
