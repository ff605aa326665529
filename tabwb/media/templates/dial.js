"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
};
const intact = data.steps.find((step) => step.role === "intact");
const seeds = [...new Set(data.steps.filter((step) => step.seed !== null).map((step) => step.seed))];
const amounts = [...new Set(data.steps.map((step) => step.amount))].sort((a, b) => a - b);
let seed = seeds.length ? seeds[0] : null;
let place = 0;
let timer = 0;
const step = (role, amount) => amount === 0 ? intact : data.steps.find((one) =>
  one.role === role && one.amount === amount && (one.seed === seed || one.seed === null));
const words = (one, where) => {
  where.replaceChildren();
  if (!one) { where.textContent = "not computed"; return; }
  for (const [text, differs] of one.pieces) {
    const bare = text.trimEnd();
    where.append(differs ? make("span", bare, "new") : bare, text.slice(bare.length));
  }
};
const strip = (role, feature, row) => {
  const cell = make("td", "", "strip" + (role === "control" ? " control" : ""));
  cell.setAttribute("aria-hidden", "true"); // the next cell says it for the present amount
  amounts.forEach((amount, index) => {
    const one = step(role, amount);
    const value = one ? one.features[feature] : undefined;
    const sign = value === true ? "█" : value === false ? "▁" : "·";
    cell.append(make("span", sign, index === place ? "now" : ""));
  });
  row.append(cell);
};
const show = () => {
  const amount = amounts[place];
  const one = step("lesion", amount);
  at("amount").value = place;
  at("value").textContent = amount === 0 ? "intact" : data.target + " " + amount;
  at("what").textContent = amount === 0 ? "Said by the intact model" : "Said by the lesioned model";
  words(one, at("said"));
  words(step("control", amount), at("other"));
  at("state").textContent = one ? [one.status === "ok" ? "" : one.status,
    one.words + " words, " + one.new_words + " not said by the intact model",
    one.seeds > 1 ? one.alike + " of " + one.seeds + " seeds have the same features" : ""].filter(Boolean).join(" · ") : "";
  at("features").replaceChildren();
  for (const [feature, title] of data.features) {
    for (const role of ["lesion", "control"]) {
      const row = document.createElement("tr");
      row.append(make("th", role === "lesion" ? title : "control", role === "lesion" ? "" : "quiet"));
      strip(role, feature, row);
      const now = step(role, amount);
      const value = now ? now.features[feature] : undefined;
      row.append(make("td", value === true ? "present" : value === false ? "absent" : "undefined", "quiet"));
      at("features").append(row);
    }
  }
  at("ladder").replaceChildren();
  amounts.forEach((each, index) => {
    const line = make("li", "");
    const said = step("lesion", each);
    const button = make("button", each + "  " + (said ? said.answer.slice(0, 160) : "not computed"));
    button.setAttribute("aria-current", String(index === place));
    button.addEventListener("click", () => { stop(); place = index; show(); });
    line.append(button);
    at("ladder").append(line);
  });
};
const stop = () => { clearInterval(timer); timer = 0; at("play").textContent = "Play"; };
at("amount").max = amounts.length - 1;
at("amount").addEventListener("input", () => { stop(); place = Number(at("amount").value); show(); });
for (const one of seeds) at("seed").append(make("option", String(one)));
at("seeds").hidden = seeds.length < 2;
at("seed").addEventListener("change", () => { seed = Number(at("seed").value); show(); });
at("play").addEventListener("click", () => {
  if (timer) { stop(); return; }
  if (place === amounts.length - 1) place = 0;
  at("play").textContent = "Stop";
  show();
  timer = setInterval(() => {
    if (place === amounts.length - 1) { stop(); return; }
    place += 1;
    show();
  }, 700);
});
show();
