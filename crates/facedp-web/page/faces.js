// The faces of a photo: detected ones can be left out, doubtful ones included, missed ones drawn.

import { clamp, drag, el } from "./dom.js";
import { count } from "./words.js";

/** Smallest side of a drawn box, in pixels of the photo and on the screen. */
const MIN_SIDE = 8;
/** Keys that move a drawn box, or with Shift its corner. */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Faces {
  /** `found` is the program's inspection of the photo at `url`; `changed` is called after every change. */
  constructor(url, found, changed) {
    this.size = [found.width, found.height];
    const doubts = found.doubts.map((face) => ({ box: face.box, chosen: false, doubt: true }));
    this.found = [...found.faces.map((face) => ({ box: face.box, chosen: true })), ...doubts];
    this.drawn = [];
    this.changed = changed;
    this.image = el("img", { src: url, alt: "The photo", draggable: false });
    this.stage = el("div", { className: "stage" }, this.image);
    this.words = el("p", { className: "words" });
    this.pen = el("button", { type: "button", "aria-pressed": "false", onclick: () => this.draw(!this.drawing) },
      "Draw a box round a missed face");
    this.place = el("button", { type: "button", className: "quiet", onclick: () => this.centre() }, "Add a box by keyboard");
    this.element = el("div", { className: "faces" }, this.stage, this.words,
      el("p", { className: "buttons" }, this.pen, this.place));
    this.stage.addEventListener("pointerdown", (event) => this.begin(event));
    this.found.forEach((face, n) => this.stage.append(this.mark(face, n)));
    this.describe();
  }

  /** The chosen faces and boxes, as settings of the program. */
  get settings() {
    const faces = this.found.flatMap((face, n) => (face.chosen ? [n + 1] : []));
    // As long as nobody decided otherwise: all faces, and no doubtful ones.
    const all = this.found.every((face) => face.chosen === !face.doubt);
    return { ...(all ? {} : { faces }), boxes: this.drawn.map((box) => box.box.map((v) => Math.round(v))) };
  }

  /** The name that a face has here. */
  name(box) {
    const isIt = (other) => other.box.every((value, k) => Math.abs(value - box[k]) < 1);
    const [n, m] = [this.found.findIndex(isIt), this.drawn.findIndex(isIt)];
    return n >= 0 ? `Face ${n + 1}` : `Drawn box ${m + 1}`;
  }

  get chosen() {
    return this.found.filter((face) => face.chosen).length + this.drawn.length;
  }

  set locked(locked) {
    for (const button of this.element.querySelectorAll("button")) button.disabled = locked;
    if (locked) this.draw(false);
  }

  focus() {
    this.element.querySelector("button").focus();
  }

  describe() {
    const faces = this.found.filter((face) => !face.doubt);
    const leftOut = faces.filter((face) => !face.chosen).length;
    const doubts = this.found.filter((face) => face.doubt && !face.chosen).length;
    const found = faces.length ? `${count(faces.length, "face")} found` : "No face found";
    const parts = [found];
    if (leftOut) parts.push(`${leftOut} left out`);
    if (this.drawn.length) parts.push(`${this.drawn.length} drawn`);
    const doubtful = doubts ? ` ${count(doubts, "place")} that may be a face, dashed: click to include it.` : "";
    const advice = faces.length ? " Click a face to leave it out." : " If there is one, draw a box round it.";
    this.words.textContent = `${parts.join(", ")}.${advice}${doubtful}`;
    this.changed();
  }

  /** Places an element over a box. */
  put(element, [x, y, width, height]) {
    const [whole, high] = this.size;
    element.dataset.box = [x, y, width, height].map(Math.round);
    Object.assign(element.style, {
      left: `${(100 * x) / whole}%`, top: `${(100 * y) / high}%`,
      width: `${(100 * width) / whole}%`, height: `${(100 * height) / high}%`,
    });
  }

  mark(face, n) {
    const kind = face.doubt ? "face doubt" : "face";
    const button = el("button", { type: "button", className: kind }, el("span", {}, face.doubt ? "?" : `${n + 1}`));
    const show = () => {
      button.setAttribute("aria-pressed", face.chosen);
      const name = face.doubt ? "May be a face" : `Face ${n + 1}`;
      button.setAttribute("aria-label", `${name}: ${face.chosen ? "will be changed" : "left out"}`);
    };
    button.addEventListener("click", () => {
      face.chosen = !face.chosen;
      show();
      this.describe();
    });
    show();
    this.put(button, face.box);
    return button;
  }

  draw(on) {
    this.drawing = on;
    this.pen.setAttribute("aria-pressed", on);
    this.stage.classList.toggle("drawing", on);
  }

  begin(event) {
    if (!this.drawing || event.button !== 0) return;
    event.preventDefault();
    const at = ({ clientX, clientY }) => {
      const { left, top, width, height } = this.image.getBoundingClientRect();
      const [whole, high] = this.size;
      return [clamp(((clientX - left) / width) * whole, 0, whole), clamp(((clientY - top) / height) * high, 0, high)];
    };
    const [x, y] = at(event);
    const frame = el("div", { className: "face drawn" });
    this.stage.append(frame);
    let box = null;
    drag(event, (move) => {
      const [u, v] = at(move);
      box = [Math.min(x, u), Math.min(y, v), Math.abs(u - x), Math.abs(v - y)];
      this.put(frame, box);
    }, (whole) => {
      const { width, height } = frame.getBoundingClientRect();
      frame.remove();
      if (whole && box && Math.min(box[2], box[3], width, height) >= MIN_SIDE) {
        this.add(box);
        this.draw(false);
      }
    });
  }

  /** Adds a box in the middle, to be moved by keys. */
  centre() {
    const [whole, high] = this.size;
    const side = Math.max(MIN_SIDE, Math.round(Math.min(whole, high) / 4));
    this.add([Math.round((whole - side) / 2), Math.round((high - side) / 2), side, side]).focus();
  }

  add(box) {
    const drawn = { box };
    const button = el("button", { type: "button", className: "face drawn", "aria-label":
      "Drawn box: arrow keys move it, with Shift they change its size, Delete or a click removes it" }, el("span", {}, "+"));
    const remove = () => {
      this.drawn = this.drawn.filter((other) => other !== drawn);
      button.remove();
      this.pen.focus();
      this.describe();
    };
    button.addEventListener("click", remove);
    button.addEventListener("keydown", (event) => {
      if (event.key === "Delete" || event.key === "Backspace") return remove();
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      event.preventDefault();
      const [whole, high] = this.size;
      const step = Math.max(1, Math.round(Math.min(whole, high) / 50));
      let [x, y, width, height] = drawn.box;
      if (event.shiftKey) {
        width = clamp(width + step * arrow[0], MIN_SIDE, whole - x);
        height = clamp(height + step * arrow[1], MIN_SIDE, high - y);
      } else {
        x = clamp(x + step * arrow[0], 0, whole - width);
        y = clamp(y + step * arrow[1], 0, high - height);
      }
      drawn.box = [x, y, width, height];
      this.put(button, drawn.box);
    });
    this.drawn.push(drawn);
    this.put(button, box);
    this.stage.append(button);
    this.describe();
    return button;
  }
}
