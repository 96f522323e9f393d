// The program's API, as /api/v1/openapi.json describes it.

const ROOT = "/api/v1";
/** How often a request to a busy program is repeated, once a second. */
const MAX_RETRIES = 120;

/** An error that the program reports. */
export class Problem extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Addresses of photos that the program has. They are deleted when the page is left. */
const open = new Set();
const remove = (address) => {
  open.delete(address);
  return fetch(address, { method: "DELETE", keepalive: true }).catch(() => {});
};
addEventListener("pagehide", () => open.forEach(remove));

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
    if (answer.status !== 429 || tries >= MAX_RETRIES) {
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

/** The photo in a format that every browser shows. */
export async function preview(photo, signal) {
  const answer = await ask(`${ROOT}/preview`, { method: "POST", body: form({ photo }), signal });
  if (answer.headers.get("content-type").startsWith("image/")) return answer.blob();
  const { error } = await answer.json();
  throw new Problem(error.message, error.code);
}

/** Treats a photo, and calls `progress` with its status. Aborting stops the work. */
export async function protect(photo, settings, progress, signal) {
  const body = form({ settings: JSON.stringify(settings), photo });
  const { id } = await (await ask(`${ROOT}/protect`, { method: "POST", body, signal })).json();
  const address = `${ROOT}/protect/${id}`;
  open.add(address);
  try {
    const result = await finished(address, progress, signal);
    const [file, receipt] = await Promise.all([
      ask(`${address}/photo`, { signal }).then((answer) => answer.blob()),
      ask(`${address}/receipt`, { signal }).then((answer) => answer.json(), () => null),
    ]);
    return { result, file, receipt };
  } finally {
    // It was fetched, or is no longer wanted.
    remove(address);
  }
}

/** Waits until a photo is done. */
function finished(address, progress, signal) {
  return new Promise((done, failed) => {
    const events = new EventSource(`${address}/events`);
    let ended = false;
    const end = (how, value) => {
      ended = true;
      events.close();
      how(value);
    };
    const aborted = () => end(failed, signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    const heard = (status) => {
      if (status.state === "done") end(done, status.result);
      else if (status.state === "failed") end(failed, new Problem(status.error.message, status.error.code));
      else if (status.state === "stopped") end(failed, new DOMException("stopped", "AbortError"));
      else progress(status);
    };
    events.addEventListener("status", (event) => heard(JSON.parse(event.data)));
    // The browser reconnects for ever: ask whether the program still answers. It gives up where a stream is refused,
    // since too many are open: ask for the status instead.
    events.addEventListener("error", async () => {
      try {
        do {
          await pause(ended ? 0 : 1000);
          if (ended) return;
          heard(await (await ask(address)).json());
        } while (events.readyState === EventSource.CLOSED && !ended);
      } catch (error) {
        end(failed, error);
      }
    });
  });
}
