// A photo on the page, from the moment it is dropped until it is downloaded.

import * as api from "./api.js";
import { el } from "./dom.js";
import { Faces } from "./faces.js";
import { viewer } from "./viewer.js";
import { check, count, megabytes, quality, summary } from "./words.js";

/** Where a card can be: looking for faces, ready, waiting or working, done, or not to be treated. */
export const STATES = ["looking", "ready", "working", "done", "failed"];

export class Card {
  /** `changed` is called when its state or its faces change; `removed` when it is to go. */
  constructor(file, name, changed, removed) {
    Object.assign(this, { file, name, changed, state: "looking" });
    this.url = URL.createObjectURL(file);
    this.status = el("p", { className: "status", role: "status" });
    this.body = el("div", { className: "body" });
    this.error = el("p", { className: "problem", role: "alert", hidden: true });
    this.close = el("button", { type: "button", className: "close", "aria-label": `Remove ${name}`, onclick: () => removed(this) }, "×");
    this.element = el("li", { className: "card", "aria-label": name },
      el("div", { className: "head" }, el("h3", {}, name), el("span", { className: "quiet" }, megabytes(file.size)), this.close),
      this.status, this.error, this.body);
    this.abort = new AbortController();
  }

  become(state, words = "") {
    this.state = state;
    this.element.dataset.state = state;
    this.status.textContent = words;
    this.changed();
  }

  complain(message) {
    this.error.textContent = message ? `${message[0].toUpperCase()}${message.slice(1)}.` : "";
    this.error.hidden = !message;
  }

  /** Looks for faces. */
  async look(limits) {
    this.become("looking", "Looking for faces…");
    try {
      if (this.file.size === 0) throw new api.Problem("the file is empty");
      if (this.file.size > limits.file_bytes) {
        throw new api.Problem(`${megabytes(this.file.size)} are more than the ${megabytes(limits.file_bytes)} that a photo may have`);
      }
      const seen = await api.detect(this.file, this.abort.signal);
      this.seen = seen;
      this.faces = new Faces(this.url, seen, () => this.changed());
      this.body.replaceChildren(this.faces.element);
      const left = seen.stripped.length ? ` Will be left out: ${seen.stripped.join(", ")}.` : "";
      this.become("ready", `${seen.width} × ${seen.height} pixels.${left}`);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.complain(error.message);
      this.become("failed");
    }
  }

  /** Whether there is something to do for it. */
  get isReady() {
    return this.state === "ready" && this.faces.chosen > 0;
  }

  /** Changes the faces that are chosen. */
  async treat(settings) {
    this.complain("");
    this.abort = new AbortController();
    this.faces.locked = true;
    const bar = el("progress", { "aria-label": `Progress of ${this.name}` });
    const stop = el("button", { type: "button", onclick: () => this.stop() }, "Stop");
    const row = el("div", { className: "progress" }, bar, stop);
    this.body.append(row);
    this.become("working", "Waiting for its turn…");
    const told = ({ state, done, faces }) => {
      if (state !== "working") return;
      // Until the first is done there is nothing to measure by.
      if (done) Object.assign(bar, { max: faces, value: done });
      this.status.textContent = faces ? `Working: ${done} of ${count(faces, "face")} done…` : "Working…";
    };
    try {
      const done = await api.protect(this.file, { ...settings, ...this.faces.settings }, told, this.abort.signal);
      this.show(done);
    } catch (error) {
      row.remove();
      this.faces.locked = false;
      const stopped = error.name === "AbortError";
      if (!stopped) this.complain(error.message);
      this.become("ready", stopped ? "Stopped: nothing was changed." : "");
    }
  }

  stop() {
    this.abort.abort();
  }

  /** Back to choosing faces. */
  again() {
    this.result = null;
    URL.revokeObjectURL(this.after);
    this.faces.locked = false;
    this.body.replaceChildren(this.faces.element);
    this.become("ready");
  }

  show({ result, file, receipt }) {
    this.result = file;
    this.after = URL.createObjectURL(file);
    const { good, text } = summary(result);
    const names = result.faces.map((face) => this.faces.name(face.box));
    const faces = result.faces.map((face, n) => {
      const sentences = check(face).map(({ good, text }) => el("li", { className: good ? "good" : "bad" }, text));
      const title = result.faces.length > 1 ? [el("h4", {}, names[n])] : [];
      return el("div", {}, ...title, el("ul", {}, ...sentences), el("p", { className: "quiet" }, quality(face)));
    });
    const notes = [
      ...(result.left ?? []).map((left) => `A face was left as it is: ${left.reason}.`),
      ...(result.unchanged ? ["No point of the photo changed: the noise was too small and was rounded away."] : []),
      ...(result.stripped.length ? [`Left out: ${result.stripped.join(", ")}.`] : []),
      ...result.notes.map((note) => `Note: ${note}.`),
      ...(result.total?.releases > 1 ? [released(result.total)] : []),
    ];
    const save = el("a", { className: "button primary", href: this.after, download: this.name.split("/").at(-1) }, `Download (${megabytes(result.bytes)})`);
    const back = el("button", { type: "button", onclick: () => this.again() }, "Choose faces again");
    this.body.replaceChildren(
      viewer(this.url, this.after, [this.seen.width, this.seen.height], result.faces.map(({ box }, n) => ({ box, name: names[n] }))),
      el("p", { className: good ? "verdict good" : "verdict bad" }, text),
      el("div", { className: "checks" }, ...faces),
      el("ul", { className: "notes" }, ...notes.map((note) => el("li", {}, note))),
      el("p", { className: "quiet" }, `Claim: ${result.claim_in_words}.`),
      el("p", { className: "buttons" }, save, back),
      ...(receipt ? [this.receipt(receipt)] : []));
    this.become("done", `Done in ${result.seconds.toFixed(1)} s.`);
  }

  receipt(receipt) {
    const text = (part) => JSON.stringify(part, null, 2);
    const url = URL.createObjectURL(new Blob([text(receipt)], { type: "application/json" }));
    const name = `${this.name.split("/").at(-1)}.receipt.json`;
    return el("details", {}, el("summary", {}, "Receipt: what was done, and what may be claimed"),
      el("p", {}, "This part may be published with the photo:"),
      el("pre", { tabIndex: 0 }, text(receipt.public)),
      el("p", {}, "The whole receipt also has a private part, whose numbers depend on the original: keep it to yourself. ",
        el("a", { href: url, download: name }, "Download the receipt")));
  }

  /** Forgets everything about it. */
  discard() {
    this.stop();
    URL.revokeObjectURL(this.url);
    URL.revokeObjectURL(this.after);
    this.element.remove();
  }
}

const released = ({ releases, epsilon }) =>
  `This photo was released before: ${releases} releases now, ` + (epsilon === null
    ? "with different faces, boxes or features. Together they can show what each of them hides, and no epsilon holds."
    : `epsilon ${epsilon} in all for each face.`);
