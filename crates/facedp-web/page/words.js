// Figures in plain words, which promise no more than is so.

export const count = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
export const megabytes = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
/** What the program says, as a sentence. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

const NAMES = { dlib: "dlib", sface: "SFace" };
const names = (verdicts) => listed(verdicts.map(({ name }) => NAMES[name] ?? name));
const listed = (items) => items.join(items.length > 2 ? ", " : " and ");

const TRIALS = [
  ["plain", "as saved"],
  ["jpeg_75", "after JPEG compression"],
  ["half_size", "at half the size"],
];

/** Whether a recogniser matches a face in a trial. */
const matches = (verdict, trial) => (trial === "plain" ? verdict.match : verdict[trial]?.match);
const isLost = (verdict) => TRIALS.every(([trial]) => !matches(verdict, trial));

/** What recognisers say of a face: { text, good } for each sentence. */
export function check({ recognisers }) {
  if (recognisers.length === 0) return [{ good: false, text: "No recogniser could look at this face." }];
  const [lost, still] = [recognisers.filter(isLost), recognisers.filter((verdict) => verdict.match)];
  const sentences = [];
  if (lost.length) {
    const verb = lost.length === 1 ? "does" : "do";
    const text = `${names(lost)} ${verb} not match it with the original any more, nor after JPEG compression or at half the size.`;
    sentences.push({ good: true, text });
  }
  for (const verdict of recognisers.filter((verdict) => !lost.includes(verdict) && !still.includes(verdict))) {
    const where = TRIALS.filter(([trial]) => matches(verdict, trial)).map(([, words]) => words);
    sentences.push({ good: false, text: `${names([verdict])} does not match it any more as saved, but does ${listed(where)}.` });
  }
  if (still.length) {
    sentences.push({ good: false, text: `${names(still)} still ${still.length === 1 ? "matches" : "match"} it with the original.` });
  }
  return sentences;
}

const ADVICE = {
  steered: " Choose the faces again, and let them change more (High).",
  other: " This method is not made to mislead recognisers.",
};

/** The same of all faces of a photo: good only if nobody matched any of them in any way. */
export function summary({ faces, left = [], method }) {
  const sentences = [];
  const checked = faces.filter((face) => face.recognisers.length);
  const still = checked.filter((face) => face.recognisers.some((verdict) => verdict.match));
  const shaky = checked.filter((face) => !still.includes(face) && !face.recognisers.every(isLost));
  const some = (part, words) => {
    const which = faces.length === 1 ? "The face is" : `${part} of ${faces.length} faces ${part === 1 ? "is" : "are"}`;
    sentences.push(`${which} ${words}.`);
  };
  const safe = checked.length - still.length - shaky.length;
  const good = faces.length > 0 && safe === faces.length && left.length === 0;
  if (safe === faces.length && safe > 0) {
    const which = safe === 1 ? "The face that was changed is" : safe === 2 ? "Both faces that were changed are" : `All ${safe} faces that were changed are`;
    sentences.push(`${which} no longer matched by the recognisers in this program. Others may still match.`);
  }
  if (still.length) some(still.length, "still matched with the original");
  if (shaky.length) some(shaky.length, "matched again after JPEG compression or at half the size");
  if (checked.length < faces.length) some(faces.length - checked.length, "unknown to recognisers: none could look");
  if (left.length) sentences.push(`${count(left.length, "face")} ${left.length === 1 ? "was" : "were"} left as they are.`);
  const advice = still.length + shaky.length ? ADVICE[method] ?? ADVICE.other : "";
  return { good, text: sentences.join(" ") + advice };
}

/** How much a face changed. */
export function quality(face) {
  if (face.psnr === null) return "Nothing visible changed: all noise was rounded away.";
  if (face.psnr === undefined) return "";
  const seen = face.psnr >= 38 ? "hardly visible" : face.psnr >= 33 ? "visible on a close look" : face.psnr >= 25 ? "visible" : "plainly visible";
  const ssim = typeof face.ssim === "number" ? `, SSIM ${face.ssim.toFixed(3)}` : "";
  return `The change is ${seen} (PSNR ${face.psnr.toFixed(1)} dB${ssim}).`;
}

/** What was chosen, in a few words. */
export const chosen = ({ method, strength, epsilon }) =>
  method === "steered" ? `Mislead recognisers (${strength})` : `${method} (epsilon ${epsilon})`;
