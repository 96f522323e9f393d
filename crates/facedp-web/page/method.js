// Choosing what is done to faces.

import { el } from "./dom.js";

const STRENGTHS = { low: "Low: hardly visible", medium: "Medium", high: "High: visible on a close look" };

/** The form; `settings()` says what was chosen. */
export function methodForm(form, offer) {
  const byName = new Map(offer.methods.map((method) => [method.name, method]));
  const papers = offer.methods.filter((method) => !["steered", "certified"].includes(method.name));
  const [steered, certified] = [byName.get("steered"), byName.get("certified")];

  const strength = el("select", { id: "strength" });
  for (const value of steered.settings.strength.values) {
    strength.append(el("option", { value }, STRENGTHS[value] ?? value));
  }
  strength.value = steered.settings.strength.usual;
  const paper = el("select", { id: "paper" }, ...papers.map(({ name }) => el("option", { value: name }, name)));
  const epsilon = (id) => {
    const { usual, least, most } = certified.settings.epsilon;
    return el("input", { id, type: "number", value: usual, min: least, max: most, step: "any", required: true });
  };
  const epsilons = { certified: epsilon("epsilon-certified"), paper: epsilon("epsilon-paper") };

  const field = (label, input) => el("p", { className: "field" }, el("label", { for: input.id }, label), input);
  const card = (value, title, words, ...fields) => {
    const input = el("input", { type: "radio", name: "method", value, id: `method-${value}`, checked: value === offer.usual });
    const inner = el("div", { className: "fields" }, ...fields);
    return el("div", { className: "choice" }, input, el("label", { for: input.id }, title), words, inner);
  };
  const words = ({ gives, lacks }) => [`${gives} `, el("em", {}, lacks)];
  const paperWords = el("p");
  const tell = () => paperWords.replaceChildren(...words(byName.get(paper.value)));
  tell();

  form.append(
    el("fieldset", {},
      el("legend", {}, "What is done to faces"),
      card("steered", steered.title, el("p", {}, ...words(steered)), field("How much may change", strength)),
      card("certified", certified.title, el("p", {}, ...words(certified)), field("Epsilon (less changes more)", epsilons.certified)),
      card("paper", "The paper's methods", paperWords, field("Method", paper), field("Epsilon", epsilons.paper))),
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", tell);

  return {
    /** What was chosen; null, with the field marked, if it cannot be. */
    settings() {
      const chosen = form.elements.method.value;
      if (chosen === "steered") return { method: "steered", strength: strength.value };
      if (!epsilons[chosen].reportValidity()) return null;
      const epsilon = epsilons[chosen].valueAsNumber;
      return { method: chosen === "paper" ? paper.value : chosen, epsilon };
    },
  };
}
