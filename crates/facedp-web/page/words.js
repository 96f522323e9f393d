// Figures in plain words, which promise no more than is true.

export const count = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
export const megabytes = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
/** A message of the program as a sentence. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

const NAMES = { dlib: "dlib", facexzoo: "FaceX-Zoo", intel: "Intel", mobilefacenet: "MobileFaceNet", sface: "SFace" };
const names = (verdicts) => listed(verdicts.map(({ name }) => NAMES[name] ?? name));
const listed = (items) => (items.length > 2 ? `${items.slice(0, -1).join(", ")} and ${items.at(-1)}` : items.join(" and "));

const TRIALS = [
  ["plain", "as saved"],
  ["jpeg_75", "after JPEG compression"],
  ["half_size", "at half size"],
];

/** Whether a recogniser matches a face in a trial. */
const matches = (verdict, trial) => (trial === "plain" ? verdict.match : verdict[trial]?.match);
const matchesNowhere = (verdict) => TRIALS.every(([trial]) => !matches(verdict, trial));

/** What recognisers say of a face: { text, good } for each sentence. */
export function check({ recognisers }) {
  if (recognisers.length === 0) return [{ good: false, text: "No recogniser could check this face." }];
  const [misled, still] = [recognisers.filter(matchesNowhere), recognisers.filter((verdict) => verdict.match)];
  const sentences = [];
  if (misled.length) {
    const verb = misled.length === 1 ? "matches" : "match";
    const text = `${names(misled)} no longer ${verb} it with the original, not even after JPEG compression or at half size.`;
    sentences.push({ good: true, text });
  }
  for (const verdict of recognisers.filter((verdict) => !misled.includes(verdict) && !still.includes(verdict))) {
    const where = TRIALS.filter(([trial]) => matches(verdict, trial)).map(([, words]) => words);
    sentences.push({ good: false, text: `${names([verdict])} no longer matches it as saved, but does ${listed(where)}.` });
  }
  if (still.length) {
    sentences.push({ good: false, text: `${names(still)} still ${still.length === 1 ? "matches" : "match"} it with the original.` });
  }
  return sentences;
}

/** What recognisers say of all faces of a photo: good only if none of them matches any face in any trial. */
export function summary({ faces, skipped = [] }, advice) {
  const sentences = [];
  const checked = faces.filter((face) => face.recognisers.length);
  const still = checked.filter((face) => face.recognisers.some((verdict) => verdict.match));
  const degraded = checked.filter((face) => !still.includes(face) && !face.recognisers.every(matchesNowhere));
  const some = (part, one, many) => {
    const which = faces.length === 1 ? "The face" : `${part} of ${count(faces.length, "face")}`;
    sentences.push(`${which} ${part === 1 ? one : many}.`);
  };
  const misled = checked.length - still.length - degraded.length;
  const good = faces.length > 0 && misled === faces.length && skipped.length === 0;
  if (misled === faces.length && misled > 0) {
    const which = misled === 1 ? "the changed face" : `any of the ${misled} changed faces`;
    sentences.push(`The recognisers in this program no longer match ${which} with the original. Others may still match.`);
  }
  if (still.length) some(still.length, "still matches the original", "still match the original");
  if (degraded.length) {
    some(degraded.length, "matches again after JPEG compression or at half size", "match again after JPEG compression or at half size");
  }
  if (checked.length < faces.length) some(faces.length - checked.length, "could not be checked", "could not be checked");
  if (skipped.length) sentences.push(`${count(skipped.length, "face")} ${skipped.length === 1 ? "was" : "were"} not changed.`);
  if (still.length + degraded.length) sentences.push(advice);
  return { good, text: sentences.join(" ") };
}

/** How much a face changed. */
export function quality(face) {
  if (face.psnr === null) return "The face did not change: all noise was rounded away.";
  if (face.psnr === undefined) return "";
  if (face.ssimulacra2 === undefined) return `PSNR of the face: ${face.psnr.toFixed(1)} dB.`;
  return `The change is ${visibility(face.ssimulacra2)} (quality ${face.ssimulacra2.toFixed(1)}, SSIMULACRA2).`;
}

/** Whether people see a change, by its perceptual score, whatever the method. */
const SEEN = [[90, "invisible"], [80, "hardly visible"], [70, "hard to see without the original beside it"],
  [50, "visible on a close look"], [30, "visible"]];
export const visibility = (score) => SEEN.find(([least]) => score >= least)?.[1] ?? "plainly visible";

/** What was chosen, in a few words. */
export const chosen = ({ strength, epsilon }, { name, title }) =>
  strength ? `${title} (${strength})` : `${name} (epsilon ${epsilon})`;
