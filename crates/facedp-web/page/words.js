// Figures in plain words, which promise no more than is so.

export const count = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
export const megabytes = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

const NAMES = { dlib: "dlib", sface: "SFace" };
const name = (recogniser) => NAMES[recogniser] ?? recogniser;
const listed = (items) => items.join(items.length > 2 ? ", " : " and ");

const TRIALS = [
  ["plain", "as saved"],
  ["jpeg_75", "after JPEG compression"],
  ["half_size", "at half the size"],
];

/** What a recogniser says of a trial: true for a match. */
const matches = (verdict, trial) => (trial === "plain" ? verdict.match : verdict[trial]?.match);

/** What recognisers say of a face: { text, good } for each sentence. */
export function check(face) {
  if (face.recognisers.length === 0) return [{ good: false, text: "No recogniser could look at this face." }];
  const sentences = [];
  const still = face.recognisers.filter((verdict) => matches(verdict, "plain"));
  const names = (verdicts) => listed(verdicts.map((verdict) => name(verdict.name)));
  const gone = face.recognisers.filter((verdict) => !matches(verdict, "plain"));
  if (gone.length) {
    const safe = gone.filter((v) => TRIALS.every(([trial]) => !matches(v, trial)));
    const shaky = gone.filter((v) => !safe.includes(v));
    if (safe.length) {
      const verb = safe.length === 1 ? "does" : "do";
      const also = ", nor after JPEG compression or at half the size";
      sentences.push({ good: true, text: `${names(safe)} ${verb} not match it with the original any more${also}.` });
    }
    for (const verdict of shaky) {
      const where = TRIALS.filter(([trial]) => matches(verdict, trial)).map(([, words]) => words);
      const text = `${name(verdict.name)} does not match it any more as saved, but does ${listed(where)}.`;
      sentences.push({ good: false, text });
    }
  }
  if (still.length) {
    const verb = still.length === 1 ? "matches" : "match";
    sentences.push({ good: false, text: `${names(still)} still ${verb} it with the original.` });
  }
  return sentences;
}

/** The same of all faces of a photo, for its heading. */
export function summary(result) {
  const faces = result.faces.filter((face) => face.recognisers.length);
  const gone = faces.filter((face) => face.recognisers.every((verdict) => !verdict.match));
  if (!faces.length) return { good: false, text: "no recogniser could look at the faces" };
  const still = faces.length - gone.length;
  if (still === 0) {
    const which = faces.length === 1 ? "The face is" : faces.length === 2 ? "Both faces are" : `All ${faces.length} faces are`;
    return { good: true, text: `${which} no longer matched by the recognisers in this program. Others may still match.` };
  }
  const which = faces.length === 1 ? "The face is" : `${still} of ${faces.length} faces ${still === 1 ? "is" : "are"}`;
  const advice = result.method === "steered"
    ? "Choose the faces again, and let them change more (High)."
    : "This method is not made to mislead recognisers.";
  return { good: false, text: `${which} still matched with the original. ${advice}` };
}

/** How much a face changed. */
export function quality(face) {
  if (face.psnr === null) return "Nothing visible changed: all noise was rounded away.";
  if (face.psnr === undefined) return "";
  const seen = face.psnr >= 38 ? "hardly visible" : face.psnr >= 33 ? "visible on a close look" : face.psnr >= 25 ? "visible" : "plainly visible";
  const ssim = typeof face.ssim === "number" ? `, SSIM ${face.ssim.toFixed(3)}` : "";
  return `The change is ${seen} (PSNR ${face.psnr.toFixed(1)} dB${ssim}).`;
}
