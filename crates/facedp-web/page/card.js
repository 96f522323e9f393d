// A photo on the page, from drop to download.

import * as api from "./api.js";
import { el } from "./dom.js";
import { Faces } from "./faces.js";
import { viewer } from "./viewer.js";
import { check, chosen, count, megabytes, quality, sentence, summary } from "./words.js";

/** With more faces than this, what recognisers say of each is folded away. */
const FEW = 4;

export class Card {
  /**
   * The state is `looking` (for faces), `ready`, `working` (or waiting for it), `done` or `failed`.
   * `changed` is called when the state or the faces change; `removed` when the card is to go.
   */
  constructor(file, name, changed, removed) {
    Object.assign(this, { file, name, changed, state: "looking" });
    this.url = URL.createObjectURL(file);
    this.urls = [];
    this.status = el("p", { className: "status" });
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
    this.error.textContent = message && sentence(message);
    this.error.hidden = !message;
  }

  /** Looks for faces. */
  async look(limits) {
    this.complain("");
    this.body.replaceChildren();
    this.become("looking", "Looking for faces…");
    try {
      if (this.file.size === 0) throw new api.Problem("the file is empty");
      if (this.file.size > limits.file_bytes) {
        throw new api.Problem(`the file has ${megabytes(this.file.size)}, and a photo may have ${megabytes(limits.file_bytes)}`);
      }
      const found = await api.detect(this.file, this.abort.signal);
      // Few browsers can show it, and what cannot be seen cannot be compared.
      this.heic = found.format === "heic";
      if (this.heic) this.see(await api.preview(this.file, this.abort.signal));
      this.size = [found.width, found.height];
      this.faces = new Faces(this.url, found, () => this.changed());
      this.body.replaceChildren(this.faces.element);
      const stripped = found.stripped.length ? ` To be removed from the file: ${found.stripped.join(", ")}.` : "";
      const written = this.heic ? " The result will be a JPEG." : "";
      this.become("ready", `${found.width} × ${found.height} pixels.${written}${stripped}`);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.complain(error.message);
      if (error.code === "gone") {
        this.body.replaceChildren(el("button", { type: "button", onclick: () => this.look(limits) }, "Try again"));
      }
      this.become("failed");
    }
  }

  /** Shows another picture for the photo. */
  see(picture) {
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(picture);
  }

  /** Whether there is a face to change. */
  get isReady() {
    return this.state === "ready" && this.faces.chosen > 0;
  }

  /** Joins the queue. */
  wait() {
    this.complain("");
    this.abort = new AbortController();
    this.faces.locked = true;
    this.bar = el("progress", { "aria-label": `Progress of ${this.name}` });
    const stop = el("button", { type: "button", onclick: () => this.stop() }, "Stop");
    this.row = el("div", { className: "progress" }, this.bar, stop);
    this.body.append(this.row);
    this.become("working", "Waiting for its turn…");
  }

  /** Changes the chosen faces. */
  async treat(settings, method) {
    const progress = ({ state, faces_done: done, faces }) => {
      if (state !== "working") return;
      // Before the first face is done, the bar shows only that there is work.
      if (done) Object.assign(this.bar, { max: faces, value: done });
      this.status.textContent = faces ? `Working: ${done} of ${count(faces, "face")} done…` : "Working…";
    };
    const { signal } = this.abort;
    try {
      signal.throwIfAborted();
      const made = await api.protect(this.file, { ...settings, ...this.faces.settings }, progress, signal);
      this.show(made, settings, method);
    } catch (error) {
      this.row.remove();
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
    this.revoke();
    this.faces.locked = false;
    this.body.replaceChildren(this.faces.element);
    this.become("ready");
  }

  /** A URL for data of the page. */
  address(blob) {
    this.urls.push(URL.createObjectURL(blob));
    return this.urls.at(-1);
  }

  revoke() {
    this.result = null;
    this.urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
  }

  show({ result, file, receipt }, settings, method) {
    Object.assign(this, { result: file, saved: false });
    const after = this.address(file);
    const { good, text } = summary(result, method.advice);
    const names = result.faces.map((face) => this.faces.name(face.box));
    const faces = result.faces.map((face, n) => {
      const sentences = check(face).map(({ good, text }) => el("li", { className: good ? "good" : "bad" }, text));
      const title = result.faces.length > 1 ? [el("h4", {}, names[n])] : [];
      return el("div", {}, ...title, el("ul", {}, ...sentences), el("p", { className: "quiet" }, quality(face)));
    });
    const checks = faces.length > FEW
      ? el("details", { className: "checks" }, el("summary", {}, "What recognisers say of each face"), ...faces)
      : el("div", { className: "checks" }, ...faces);
    const notes = [
      ...(result.skipped ?? []).map(({ reason }) => `A face was not changed: ${reason}.`),
      ...(result.unchanged ? ["No pixel of the photo changed: the noise was too small and was rounded away."] : []),
      ...(result.stripped.length ? [`Removed from the file: ${result.stripped.join(", ")}.`] : []),
      ...result.notes.map((note) => `Note: ${note}.`),
      ...(result.total?.releases > 1 && result.total.private_releases > 0 ? [released(result.total)] : []),
    ];
    const save = el("a", { className: "button primary", href: after, download: this.saveAs, onclick: () => (this.saved = true) },
      `Download (${megabytes(result.bytes)})`);
    const back = el("button", { type: "button", onclick: () => {
      this.again();
      this.faces.focus();
    } }, "Choose faces again");
    this.body.replaceChildren(
      viewer(this.url, after, this.size, result.faces.map(({ box }, n) => ({ box, name: names[n] }))),
      el("p", { className: good ? "verdict good" : "verdict bad" }, text),
      el("p", { className: "buttons" }, save, back),
      checks,
      el("ul", { className: "notes" }, ...notes.map((note) => el("li", {}, note))),
      el("p", { className: "quiet" }, `Claim: ${result.claim_in_words}.`),
      ...(receipt ? [this.receipt(receipt)] : []));
    this.become("done", `${chosen(settings, method)}, done in ${result.seconds.toFixed(1)} s.`);
  }

  /** The name that the program gives to the result. */
  get resultName() {
    return this.heic ? this.name.replace(/(\.[^./]*)?$/, ".jpg") : this.name;
  }

  /** Not the original's name, so that nobody publishes the wrong file. */
  get saveAs() {
    return this.resultName.split("/").at(-1).replace(/(\.[^.]*)?$/, "-changed$1");
  }

  receipt(receipt) {
    const text = (part) => JSON.stringify(part, null, 2);
    const url = this.address(new Blob([text(receipt)], { type: "application/json" }));
    const name = `${this.name.split("/").at(-1)}.receipt.json`;
    return el("details", {}, el("summary", {}, "Receipt: what was done, and what may be claimed"),
      el("p", {}, "This part may be published with the photo:"),
      el("pre", { tabIndex: 0 }, text(receipt.public)),
      el("p", {}, "The whole receipt also has a private part, which depends on the original: keep it to yourself. ",
        el("a", { href: url, download: name }, "Download the receipt")));
  }

  /** Removes the card and frees its data. */
  discard() {
    this.stop();
    this.revoke();
    URL.revokeObjectURL(this.url);
    this.element.remove();
  }
}

const released = ({ releases, epsilon, no_bound: why }) =>
  `This photo was released before: ${releases} releases now, ` + (epsilon === null
    ? `${why}.`
    : `with a total epsilon of ${Number(epsilon.toPrecision(12))} for each face.`);
