// The program's interface, as /api/v1/openapi.json describes it.

const ROOT = "/api/v1";
/** How often a busy program is asked again, once a second. */
const PATIENCE = 120;

/** What the program says when it cannot. */
export class Problem extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Photos that the program has. Nothing is left of them when the page goes. */
const open = new Set();
const forget = (place) => {
  open.delete(place);
  return fetch(place, { method: "DELETE", keepalive: true }).catch(() => {});
};
addEventListener("pagehide", () => open.forEach(forget));

const GONE = () => new Problem("the program does not answer: is it still running?", "gone");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function ask(path, options = {}) {
  for (let tries = 0; ; tries++) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw GONE();
    }
    if (answer.ok) return answer;
    const { error } = await answer.json().catch(() => ({}));
    if (answer.status !== 429 || tries >= PATIENCE) {
      throw new Problem(error?.message ?? `the program answered ${answer.status}`, error?.code);
    }
    await pause(1000);
    options.signal?.throwIfAborted();
  }
}

const form = (fields) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

export const methods = async () => (await ask(`${ROOT}/methods`)).json();
export const plan = async () => (await ask(`${ROOT}/plan`)).json();

export async function detect(photo, signal) {
  const answer = await ask(`${ROOT}/detect`, { method: "POST", body: form({ photo }), signal });
  const { state, result, error } = await answer.json();
  if (state === "failed") throw new Problem(error.message, error.code);
  return result;
}

/** Treats a photo: `told` hears how far it is. Aborting stops it. */
export async function protect(photo, settings, told, signal) {
  const body = form({ settings: JSON.stringify(settings), photo });
  const { id } = await (await ask(`${ROOT}/protect`, { method: "POST", body, signal })).json();
  const place = `${ROOT}/protect/${id}`;
  open.add(place);
  try {
    const result = await over(place, told, signal);
    const [file, receipt] = await Promise.all([
      ask(`${place}/photo`, { signal }).then((answer) => answer.blob()),
      ask(`${place}/receipt`, { signal }).then((answer) => answer.json(), () => null),
    ]);
    return { result, file, receipt };
  } finally {
    // What was fetched, or is no longer wanted, need not be kept.
    forget(place);
  }
}

/** Waits until a photo is done. */
function over(place, told, signal) {
  return new Promise((done, failed) => {
    const events = new EventSource(`${place}/events`);
    const end = (how, value) => {
      events.close();
      how(value);
    };
    const aborted = () => end(failed, signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    events.addEventListener("status", (event) => {
      const status = JSON.parse(event.data);
      if (status.state === "done") end(done, status.result);
      else if (status.state === "failed") end(failed, new Problem(status.error.message, status.error.code));
      else if (status.state === "stopped") end(failed, new DOMException("stopped", "AbortError"));
      else told(status);
    });
    // It tries again by itself, for ever: ask whether there is somebody.
    events.addEventListener("error", () => ask(place).catch((error) => end(failed, error)));
  });
}
