"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
};
const roles = data.steps.some((step) => step.role === "session") ? ["session"] : ["lesion", "control"];
const seeds = [...new Set(data.steps.filter((step) => step.choice !== null).map((step) => step.choice))];
const amounts = [...new Set(data.steps.map((step) => step.at))].sort((a, b) => a - b);
let seed = seeds.length ? seeds[0] : null;
let place = 0;
let timer = 0;
const step = (role, amount) => data.steps.find((one) => (one.role === role || one.role === "intact") &&
  one.at === amount && (one.choice === seed || one.choice === null));
const words = (one, where) => {
  where.replaceChildren();
  if (!one) { where.textContent = "no answer"; return; }
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
  const one = step(roles[0], amount);
  at("amount").value = place;
  at("value").textContent = amount === 0 ? "intact" : data.unit + " " + amount;
  at("amount").setAttribute("aria-valuetext", at("value").textContent);
  at("what").textContent = place === 0 ? data.first : data.later;
  words(one, at("said"));
  words(step("control", amount), at("other"));
  at("state").textContent = one ? one.notes.join(" · ") : "";
  at("features").replaceChildren();
  for (const [feature, title] of data.features) {
    for (const role of roles) {
      const row = document.createElement("tr");
      row.append(make("th", role === "control" ? "control" : title, role === "control" ? "quiet" : ""));
      strip(role, feature, row);
      const now = step(role, amount);
      const value = now ? now.features[feature] : undefined;
      row.append(make("td", value === true ? "yes" : value === false ? "no" : "undefined", "quiet"));
      at("features").append(row);
    }
  }
  ladder.forEach((button, index) => { // the buttons stay: one of them can have the focus
    const said = step(roles[0], amounts[index]);
    button.textContent = amounts[index] + "  " + (said ? said.answer.slice(0, 160) : "not computed");
    button.setAttribute("aria-current", String(index === place));
  });
};
const ladder = amounts.map((each, index) => {
  const line = make("li", "");
  const button = make("button", "");
  button.type = "button";
  button.addEventListener("click", () => { stop(); place = index; show(); });
  line.append(button);
  at("ladder").append(line);
  return button;
});
const stop = () => { clearInterval(timer); timer = 0; at("play").textContent = "Play"; };
at("amount").max = amounts.length - 1;
at("amount").addEventListener("input", () => { stop(); place = Number(at("amount").value); show(); });
for (const [index, one] of seeds.entries()) at("seed").append(Object.assign(make("option", String(one)), { value: index }));
at("controls").hidden = !roles.includes("control");
at("seeds").hidden = seeds.length < 2;
at("seed").addEventListener("change", () => { seed = seeds[Number(at("seed").value)]; show(); });
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
