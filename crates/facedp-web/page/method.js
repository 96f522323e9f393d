// The form in which a method and its settings are chosen.

import { el } from "./dom.js";

/** Shares of photos that recognisers which steering does not know still match with another photo of the person, on
 *  Labeled Faces in the Wild: docs/measurements/steered.md. */
const STRENGTHS = {
  low: "Changes least. Many other recognisers still match the face: 28 to 48 of 100 photos in our tests.",
  medium: "Hard to see without the original beside it. Other recognisers still match 3 to 8 of 100 photos in our tests.",
  high: "Looks like somebody else, some years older at times. Other recognisers still match 1 to 4 of 100 photos in our tests.",
};
const title = (name) => `${name[0].toUpperCase()}${name.slice(1)}`;

/** The one setting that the page shows for methods: the strength, or else the budget. */
function control(id, { strength, epsilon }) {
  if (!strength) {
    const { default: value, min, max } = epsilon;
    const input = el("input", { id: `epsilon-${id}`, type: "number", value, min, max, step: "any", required: true });
    return { input, notes: [], label: "Epsilon (smaller values change more)", settings: () => ({ epsilon: input.valueAsNumber }) };
  }
  const options = strength.values.map((value) => el("option", { value }, title(value)));
  const note = el("p", { className: "quiet note", id: `about-${id}` });
  const input = el("select", { id: `strength-${id}`, "aria-describedby": note.id }, ...options);
  input.value = strength.default;
  const describe = () => (note.textContent = STRENGTHS[input.value] ?? "");
  input.addEventListener("input", describe);
  describe();
  return { input, notes: [note], label: "How much may change", settings: () => ({ strength: input.value }) };
}

const field = (label, input) => el("p", { className: "field" }, el("label", { for: input.id }, label), input);

/** A card for methods with the same title, which differ only in their names. */
function card(methods, isDefault) {
  const [{ name: id, title, settings }] = methods;
  const radio = el("input", { type: "radio", name: "method", value: id, id: `method-${id}`, checked: isDefault });
  const which = el("select", { id: `which-${id}` }, ...methods.map(({ name }) => el("option", { value: name }, name)));
  const words = el("p");
  const describe = () => {
    const { gives, missing } = methods.find(({ name }) => name === which.value);
    words.replaceChildren(`${gives} `, el("em", {}, missing));
  };
  which.addEventListener("input", describe);
  describe();
  const { input, notes, label, settings: chosen } = control(id, settings);
  const fields = [...(methods.length > 1 ? [field("Method", which)] : []), field(label, input), ...notes];
  const element = el("div", { className: "choice" }, radio, el("label", { for: radio.id }, title), words,
    el("div", { className: "fields" }, ...fields));
  return { id, element, input, isDefault, settings: () => ({ method: which.value, ...chosen() }) };
}

/** Fills the form with the offered methods. `settings()` returns what was chosen. */
export function methodForm(form, offer) {
  const titles = [...new Set(offer.methods.map(({ title }) => title))];
  const cards = titles.map((title) => {
    // The last one changes faces least, but for the formulas as printed, which are for comparisons.
    const literal = ({ name }) => name.endsWith("-literal");
    const methods = offer.methods.filter((method) => method.title === title).reverse();
    methods.sort((a, b) => literal(a) - literal(b));
    return card(methods, methods.some(({ name }) => name === offer.default));
  });
  const elements = (some) => cards.filter(some).map(({ element }) => element);
  const research = el("details", { id: "research" }, el("summary", {}, "Research methods"), ...elements((card) => !card.isDefault));
  form.append(el("fieldset", {}, el("legend", {}, "What is done to faces"), ...elements((card) => card.isDefault), research));
  form.addEventListener("submit", (event) => event.preventDefault());

  return {
    /** What was chosen; null, with the field marked, if a value is not valid. */
    settings() {
      const chosen = cards.find(({ id }) => id === form.elements.method.value);
      return chosen.input.reportValidity() ? chosen.settings() : null;
    },
  };
}
