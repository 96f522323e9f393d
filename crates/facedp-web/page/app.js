// The page: photos are dropped, cards show them, a button starts the work on all of them.

import * as api from "./api.js";
import { Card } from "./card.js";
import { chart } from "./chart.js";
import { $, el } from "./dom.js";
import { methodForm } from "./method.js";
import { count, sentence } from "./words.js";
import { zip } from "./zip.js";

/** Photos that are sent at once, to be searched or treated. */
const AT_ONCE = 3;
const ENDINGS = /\.(jpe?g|jpe|jfif|png|webp|heic|heif)$/i;

let cards = [];
let offer = null;
let form = null;

const is = (state) => (card) => card.state === state;

/** Updates buttons and status. */
function refresh() {
  const [ready, done, busy] = [cards.filter((card) => card.isReady), cards.filter(is("done")), cards.filter(is("working"))];
  $("bar").hidden = cards.length === 0;
  $("go").disabled = ready.length === 0;
  $("go").textContent = ready.length ? `Change the faces in ${count(ready.length, "photo")}` : "Change the faces";
  $("save").hidden = done.length === 0;
  $("save").textContent = done.length === 1 ? "Download as a zip" : `Download all ${done.length} as a zip`;
  $("again").hidden = done.length === 0;
  // The focus must not vanish with its button.
  if (!busy.length && document.activeElement === $("stop")) (done.length ? $("save") : $("go")).focus();
  $("stop").hidden = busy.length === 0;
  const parts = [];
  const part = (number, words) => number && parts.push(words(number));
  part(cards.filter(is("looking")).length, (n) => `looking for faces in ${count(n, "photo")}`);
  part(busy.length, (n) => `${count(n, "photo")} to go`);
  part(done.length, (n) => `${count(n, "photo")} done`);
  part(cards.filter(is("ready")).length - ready.length, (n) => `${n} with no face chosen`);
  part(cards.filter(is("failed")).length, (n) => `${n} cannot be used`);
  $("status").textContent = parts.join(", ");
}

/** Does something for each item, a few at once. */
async function each(items, task) {
  const waiting = [...items];
  const worker = async () => {
    while (waiting.length) await task(waiting.shift());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function add(files) {
  const more = files.map(({ file, name }) => new Card(file, name, refresh, remove));
  cards.push(...more);
  $("photos").append(...more.map((card) => card.element));
  refresh();
  each(more, (card) => card.look(offer.limits));
}

function remove(card) {
  const at = cards.indexOf(card);
  card.discard();
  cards = cards.filter((other) => other !== card);
  refresh();
  (cards[at] ?? cards.at(-1))?.close.focus();
  if (!cards.length) $("choose").focus();
}

async function go() {
  const settings = form.settings();
  if (!settings) return;
  const mine = cards.filter((card) => card.isReady);
  mine.forEach((card) => card.wait());
  $("stop").focus();
  const method = offer.methods.find(({ name }) => name === settings.method);
  await each(mine, (card) => card.treat(settings, method));
}

async function save() {
  const done = cards.filter(is("done"));
  try {
    const url = URL.createObjectURL(await zip(done.map((card) => ({ name: card.resultName, blob: card.result }))));
    el("a", { href: url, download: "facedp.zip" }).click();
    done.forEach((card) => (card.saved = true));
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    $("status").textContent = sentence(error.message);
  }
}

/** The files that were dropped, those in folders included. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, name: file.name }));
  const found = [];
  const walk = async (entry, folder) => {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      // In a folder, only pictures count.
      if (!folder || ENDINGS.test(file.name)) found.push({ file, name: folder + file.name });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return;
      for (const inner of some) await walk(inner, `${folder}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

function listen() {
  $("choose").addEventListener("click", () => $("files").click());
  $("choose-folder").addEventListener("click", () => $("folder").click());
  $("files").addEventListener("change", (event) => {
    add([...event.target.files].map((file) => ({ file, name: file.name })));
    event.target.value = "";
  });
  $("folder").addEventListener("change", (event) => {
    const pictures = [...event.target.files].filter((file) => ENDINGS.test(file.name));
    add(pictures.map((file) => ({ file, name: file.webkitRelativePath || file.name })));
    event.target.value = "";
  });
  $("go").addEventListener("click", go);
  $("stop").addEventListener("click", () => cards.filter(is("working")).forEach((card) => card.stop()));
  $("again").addEventListener("click", () => {
    cards.filter(is("done")).forEach((card) => card.again());
    $("go").focus();
  });
  $("save").addEventListener("click", save);
  $("clear").addEventListener("click", () => [...cards].forEach(remove));
  const over = (on) => document.body.classList.toggle("over", on);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget ?? over(false));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    over(false);
    add(await dropped(event.dataTransfer));
  });
  addEventListener("beforeunload", (event) => {
    if (cards.some((card) => card.state === "working" || (card.state === "done" && !card.saved))) event.preventDefault();
  });
  let drawn = false;
  $("plan").addEventListener("toggle", async () => {
    if (drawn) return;
    drawn = true;
    $("chart").textContent = "Computing…";
    try {
      $("chart").replaceChildren(...chart(await api.plan()));
    } catch (error) {
      drawn = false;
      $("chart").textContent = sentence(error.message);
    }
  });
}

// The token in the address is in a cookie by now: keep it out of bookmarks and screenshots.
if (location.search) history.replaceState(null, "", location.pathname);
try {
  offer = await api.methods();
  form = methodForm($("method"), offer);
  $("version").textContent = `facedp ${offer.version}`;
  listen();
  document.body.dataset.ready = "true";
} catch (error) {
  $("drop").replaceChildren(el("p", { className: "problem", role: "alert" }, sentence(error.message)));
}
