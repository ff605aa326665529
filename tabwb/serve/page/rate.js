// The page of a rater: shows what the server gives, sends what is answered, one request at a time.
// A request without a reply is repeated as it was, so that nothing is stored twice; until then it is
// kept in this browser. Answers that the server has otherwise are shown as the server has them.
"use strict";

const UNSURE = "cannot-tell";
const SURE = ["guessed", "unsure", "fairly sure", "sure"];
const PAUSE_S = 180;
const WAITS_S = [1, 2, 4, 8, 10];
const MOST_BYTES = 64000;
const $ = (id) => document.getElementById(id);
const CONFLICT = "Shown is what is stored: it was changed elsewhere meanwhile.";
const OFFLINE = "No connection. What you answer is kept in this browser and sent when the connection " +
  "is back.";
const LATE = " Only your last answers were not sent: they are kept in this browser.";
const plain = (one) => JSON.stringify([Object.entries(one.answers).sort(), one.confidence, one.note,
  Object.entries(one.evidence).sort()]);
const same = (one, other) => plain(one) === plain(other);

let ticket = "", form = null, view = null, slots = [];
let draft = null, stored = null, version = 0;
let job = null, wanted = null, pumping = false, failures = 0, timer = 0, reopened = false;
let at = 0, attempts = 1, chosen = null, cursor = 0, asked = "", queue = [];
let steps = []; // changes that were not sent yet, each of which can be undone

function make(name, attributes = {}, ...inside) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...inside.filter((one) => one != null));
  return node;
}

function say(words, asks = false) {
  $("said").textContent = words;
  $("said").classList.toggle("asks", asks);
}

// ------------------------------------------------------------------ time on the sample

const clock = {
  counted: 0, since: null,
  get seconds() {
    const now = performance.now() / 1000;
    return this.counted + (this.since === null ? 0 : Math.min(now - this.since, PAUSE_S));
  },
  touch() { this.counted = this.seconds; this.since = performance.now() / 1000; },
  hold() { this.counted = this.seconds; this.since = null; },
  begin(spent) { this.counted = spent; this.since = performance.now() / 1000; },
};
document.addEventListener("visibilitychange", () => {
  if (document.hidden || $("dialog").open) clock.hold();
  else clock.touch();
});

// ------------------------------------------------------------------ requests

async function post(path, body) {
  return fetch(path, {
    method: "POST", body, cache: "no-store", headers: { "Content-Type": "text/plain" },
    signal: AbortSignal.timeout(20000),
  });
}

async function open() {
  const reply = await post("open", location.hash.slice(1));
  if (reply.status !== 200) throw reply;
  ticket = (await reply.json()).ticket;
}

// Returns what the server says, or null without a reply: the connection or the server is gone.
// One request at a time: of two that find no server, both would ask for a ticket.
let last = Promise.resolve();
function send(request) {
  last = last.then(() => deliver(request));
  return last;
}

async function deliver(request) {
  try {
    for (const again of [true, false]) {
      if (!ticket) { await open(); reopened = true; }
      const reply = await post("rating", JSON.stringify({ ticket, ...request }));
      if (reply.status === 404) { ticket = ""; if (again) continue; throw new Error("no seat"); }
      if (reply.status === 422) return { refused: (await reply.json()).words };
      if (reply.status !== 200) throw reply;
      if (failures) say("");
      failures = 0;
      return await reply.json();
    }
  } catch (problem) {
    failures += 1;
    const status = problem instanceof Response ? problem.status : 0;
    const words = status === 503 ? (await problem.json().catch(() => ({}))).words : "";
    if (status === 404 || status === 410 || !view) tell(status in NOTICES ? status : 503, words);
    else if (failures === 2) say(words || OFFLINE, true);
    if (status !== 404 && status !== 410) wait();
    return null;
  }
  return null;
}

function wait() {
  clearTimeout(timer);
  const seconds = WAITS_S[Math.min(failures, WAITS_S.length) - 1];
  timer = setTimeout(() => view ? pump() : begin(), seconds * 1000);
}
addEventListener("online", () => { if (failures && view) pump(); });

function tell(kind, words) {
  const [title, text] = NOTICES[kind];
  $("title").textContent = title;
  const late = view && !same(draft, stored);
  $("words").textContent = (words || text) + (late ? LATE : "");
  $("again").hidden = kind === 404 || kind === 410;
  $("notice").hidden = false;
  $("work").hidden = true;
  document.querySelector("footer").hidden = true;
}

async function begin() {
  const told = await send({ what: "view" });
  if (!told || !told.form) return;
  form = told.form;
  reopened = false;
  const kept = stash(undefined, told.view);
  if (!kept) return adopt(told.view);
  const there = await send({ what: "view", place: kept.place });
  if (!there) return undefined;
  const stored = draftOf(there.view);
  if (there.view.place === kept.place && there.view.phase === "rate" && !same(stored, kept.draft)) {
    adopt(there.view);
    // What is stored is what these answers followed, or what was sent before a reply was lost.
    const sent = kept.sent && same(stored, kept.sent);
    if (version !== kept.version && !sent) return say(CONFLICT, true);
    draft = kept.draft;
    return changed();
  }
  const first = await send({ what: "view", place: told.view.place });
  return first && adopt(first.view);
}

function stash(what, of = view) {
  const name = `tabwb ${of.id} ${of.rater}`;
  try {
    if (what) localStorage.setItem(name, JSON.stringify(what));
    else if (what === null) localStorage.removeItem(name);
    else return JSON.parse(localStorage.getItem(name));
  } catch { /* this browser keeps nothing */ }
  return null;
}

const request = (what, more = {}) => ({
  what, place: view.place, version, draft: view.phase === "rate" ? draft : null,
  seconds: Math.round(clock.seconds * 1000) / 1000, ...more,
});

// Sends what is not stored yet, then what is wanted (the next sample, the one before ...).
async function pump() {
  if (pumping) return;
  pumping = true;
  try {
    for (;;) {
      if (!job && !wanted && same(draft, stored)) {
        steps = [];
        if (!reopened || !await renew()) break;
        continue;
      }
      if (wanted && wanted.what !== "undo") steps = [];
      if (!job && wanted && !steps.length) job = request(wanted.what, wanted);
      else if (!job) job = request("keep", { draft: steps.shift() || draft });
      const moves = job.what !== "keep";
      remember();
      const told = await send(job);
      if (!told) {
        // A move is asked for anew when the connection is back; its answers are sent as they were.
        if (moves && job.what !== "finish") wanted = null;
        job = job.draft ? { ...job, what: "keep", confirms: false } : null;
        queue = []; // for a sample that was not shown
        break;
      }
      const done = job;
      job = null;
      if (told.view) {
        wanted = null;
        adopt(told.view);
        if (told.conflict) say(CONFLICT, true);
      } else if (told.refused) {
        wanted = null;
        steps = [];
        say(`Not saved: ${told.refused}`, true);
        if (done.what !== "keep") continue;
        const spoken = slots.filter((slot) => slot.question.kind === "phonemes" &&
          draft.answers[slot.key] !== stored.answers[slot.key]);
        draft = structuredClone(spoken.length ? draft : stored);
        for (const slot of spoken) {
          if (slot.key in stored.answers) draft.answers[slot.key] = stored.answers[slot.key];
          else delete draft.answers[slot.key];
        }
        show();
      } else {
        version = told.version;
        stored = done.draft;
      }
    }
  } finally {
    pumping = false;
    remember();
    while (queue.length && !wanted) key(queue.shift());
  }
}

// The addresses of picture and recording end with the server that gave them.
async function renew() {
  const told = await send({ what: "view", place: view.place });
  if (told) reopened = false;
  if (told && told.view && told.view.place === view.place) listen(told.view);
  return Boolean(told);
}

function remember() {
  const saved = !job && same(draft, stored);
  const waits = !saved && failures > 0;
  stash(saved ? null : { place: view.place, version, draft, sent: job && job.draft });
  const words = saved ? "✓ saved" : waits ? "! kept here, not sent" : "… saving";
  $("saved").textContent = view.phase === "rate" || !saved ? words : "";
  $("saved").classList.toggle("waits", waits);
  $("next").textContent = asked ? "Confirm" : "Next";
}

// Takes a change; none while another sample is coming, and none that is too long for a request.
function edit(change) {
  if (wanted && !failures) return false;
  const next = { ...draft, ...change };
  if (new Blob([JSON.stringify(next)]).size > MOST_BYTES) {
    say("Not taken: too many words are marked for this sample.", true);
    return false;
  }
  draft = next;
  changed();
  return true;
}

function changed() {
  wanted = null;
  asked = "";
  steps.push(draft);
  clock.touch();
  show();
  pump();
}

function want(what, more = {}) {
  if (wanted) return;
  clock.touch();
  wanted = { what, ...more };
  pump();
}

// ------------------------------------------------------------------ the sample and its questions

const draftOf = (one) => ({
  answers: one.answers, confidence: one.confidence, note: one.note, evidence: one.evidence,
});

function adopt(told) {
  const other = !view || view.place !== told.place || view.phase !== told.phase;
  view = told;
  steps = [];
  draft = draftOf(view);
  stored = structuredClone(draft);
  version = view.version;
  chosen = null;
  asked = view.asked ? question(view.asked) : "";
  if (other) {
    clock.begin(view.spent);
    at = cursor = attempts = 0;
    say("");
  }
  const numbers = Object.keys(draft.answers).map((key) => +key.split("#")[1] || 1);
  attempts = Math.max(attempts, 1, ...numbers);
  $("notice").hidden = true;
  $("work").hidden = document.querySelector("footer").hidden = false;
  $("set").textContent = view.set;
  $("rater").textContent = `rater ${view.rater}`;
  $("progress").max = view.planned;
  $("progress").value = view.done;
  $("place").textContent = view.phase === "over" ? "" : placeOf();
  for (const part of ["prompt", "before", "after"]) $(part).textContent = view[part];
  $("target").replaceChildren(...(view.target ? ["expected: ", make("b", {}, view.target)] : []));
  listen(view);
  lay();
  if (asked) say(asked, true);
  if (other) { scrollTo(0, 0); $("work").focus({ preventScroll: true }); }
  if (view.first && view.phase !== "over") { view.first = false; guidelines(); }
}

const placeOf = () => `Sample ${view.place} of ${view.planned}${view.learning ? " · learning" : ""}`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function question(what) {
  const features = plural(what.unmarked, "feature");
  const said = what.untouched ? ["nothing answered"] : [];
  if (what.unmarked && !what.untouched) said.push(`${features} not looked at`);
  if (what.fast) said.push(`less than ${form.least} s`);
  const then = !what.unmarked ? "complete" : what.untouched ? `${features} absent` : "absent";
  return `${said.join(", ")}. ${what.again ? "Wait, then Next" : "Next again"}: ${then}.`;
}

// The questions in their order; those of attempts stand together by attempt.
function slotsOf() {
  const repeated = form.questions.filter((one) => one.each), made = [];
  for (const one of form.questions) {
    if (!one.each) made.push({ question: one, key: one.measure });
    else if (one === repeated[0]) {
      for (let number = 1; number <= attempts; number++) {
        made.push(...repeated.map((each) => (
          { question: each, key: `${each.measure}#${number}`, attempt: number })));
      }
    }
  }
  return made;
}

const answered = (key) => draft.answers[key] ?? null;

function optionsOf(one) {
  const named = (value) => one.options.find((each) => each.value === String(value)) || {};
  const made = one.kind === "present-absent"
    ? [{ value: 0, title: "absent" }, { value: 1, title: "present" }]
    : one.kind === "choice" ? one.options.slice() : [];
  for (let value = one.low; one.kind === "scale" && value <= one.high; value++) {
    const title = named(value).title;
    made.push({ value, key: String(value), title: "", label: title && `${value} ${title}` });
  }
  if (one.unsure) made.push({ value: UNSURE, title: "?", label: "cannot tell" });
  return made;
}

function lay() {
  slots = slotsOf();
  const box = $("questions");
  const titles = Object.fromEntries(form.groups.map((one) => [one.id, one.title]));
  box.replaceChildren();
  $("hint").textContent = "";
  if (view.phase === "over") {
    const done = `${view.done} of ${view.planned} samples are rated.`;
    const withheld = `${view.withheld} are not shown: their speakers do not agree to rating now.`;
    box.append(make("h2", {}, "Thank you"), make("p", {}, done));
    if (view.withheld) box.append(make("p", {}, withheld));
  } else if (view.phase === "feedback") box.append(comparison());
  else {
    let before = "";
    slots.forEach((slot, index) => {
      const title = slot.attempt ? `Attempt ${slot.attempt}` : titles[slot.question.group] || "";
      if (title && title !== before) box.append(make("h2", { class: "group" }, title));
      before = title;
      box.append(row(slot, index));
    });
    if (form.questions.some((one) => one.each)) {
      const more = [make("kbd", {}, "m"), "One more attempt"];
      box.append(make("button", { type: "button", onclick: attempt }, ...more));
    }
    box.append(make("h2", { class: "group" }, "You"), confidence(), note());
  }
  for (const id of ["undo", "next"]) $(id).hidden = view.phase === "over";
  words();
  show();
}

function row(slot, index) {
  const one = slot.question, id = `q${index}`, options = optionsOf(one);
  const wide = one.kind !== "present-absent" && (options.length > 6 || one.kind !== "scale");
  const number = slot.attempt && make("span", { class: "hidden" }, `, attempt ${slot.attempt}`);
  const title = make("span", { id }, one.title, number);
  const points = options.map((each) => each.label || each.value).join(", ");
  const meanings = options.filter((each) => each.definition).flatMap((each) => [
    make("dt", {}, each.title), make("dd", {}, each.definition)]);
  const about = make("details", {},
    make("summary", {}, make("kbd", { "aria-hidden": true }, one.key), title),
    one.definition ? make("p", {}, one.definition) : null,
    one.kind === "scale" ? make("p", {}, points) : null,
    one.example ? make("p", {}, make("i", {}, `e.g. ${one.example}`)) : null,
    meanings.length ? make("dl", {}, ...meanings) : null);
  slot.state = make("span", { class: one.kind === "scale" ? "point" : "hidden", id: `${id}s` });
  slot.answers = make("div", {
    class: "answers", role: "group", "aria-labelledby": id, "aria-describedby": `${id}s`,
  });
  slot.proof = make("p", { class: "proof" });
  if (one.kind === "text" || one.kind === "phonemes") slot.answers.append(...field(slot, id));
  for (const each of options) {
    slot.answers.append(make("button", {
      type: "button", "data-value": each.value, "aria-label": each.label, title: each.label,
      "aria-keyshortcuts": each.title === "present" && one.key || null,
      onclick: (event) => press(slot, each.value, event),
    }, each.key ? make("kbd", {}, each.key) : null, each.title));
  }
  const parts = [about, slot.answers, slot.state, slot.proof];
  slot.row = make("div", { class: `question ${wide ? "wide" : one.kind}` }, ...parts);
  slot.row.addEventListener("pointerdown", () => { at = index; mark(); });
  slot.row.addEventListener("focusin", () => { at = index; mark(); });
  return slot.row;
}

function press(slot, value, event) {
  put(slot, answered(slot.key) === value ? null : value);
  if (event && event.detail && document.activeElement) document.activeElement.blur();
}

function put(slot, value) {
  if (wanted && !failures) return;
  if (value === UNSURE && !slot.question.unsure) {
    say(`${slot.question.title}: this form has no "cannot tell" here`);
    return;
  }
  at = slots.indexOf(slot);
  const answers = { ...draft.answers }, evidence = { ...draft.evidence };
  delete answers[slot.key];
  if (value !== null) answers[slot.key] = value;
  if (value === null || value === 0) delete evidence[slot.key];
  else if (chosen) {
    const marked = new Set(evidence[slot.key] || []);
    for (let word = chosen[0]; word <= chosen[1]; word++) marked.add(word);
    evidence[slot.key] = [...marked].sort((one, other) => one - other);
  }
  if (chosen) getSelection().removeAllRanges();
  chosen = null;
  if (edit({ answers, evidence })) say(`${slot.question.title}: ${wordsOf(slot.question, value, slot.key)}`);
}

function wordsOf(one, value, key) {
  if (value === UNSURE) return "cannot tell";
  if (value === null && one.kind !== "present-absent") return "not answered";
  const confirmed = view.complete && view.confirmed.includes(key) ? ", confirmed as absent" : "";
  if (value === null) return `not looked at${confirmed}`;
  if (one.kind === "present-absent") return value === 1 ? "present" : "absent";
  const named = one.options.find((each) => each.value === String(value));
  const title = named ? named.title : "";
  return one.kind === "scale" ? `${value} ${title}`.trim() : title || value;
}

function mark() {
  slots.forEach((slot, index) => slot.row && slot.row.classList.toggle("at", index === at));
}

function show() {
  if (!view || view.phase !== "rate") return;
  let looked = 0, features = 0;
  for (const slot of slots) {
    const value = answered(slot.key), one = slot.question;
    if (one.kind === "present-absent") { features += 1; looked += value !== null; }
    slot.row.classList.toggle("open", value === null);
    const silent = one.kind === "scale" && value === null;
    slot.state.textContent = silent ? "" : wordsOf(one, value, slot.key);
    for (const button of slot.answers.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
    }
    const quotes = draft.evidence[slot.key] ? quoted(draft.evidence[slot.key]) : "";
    slot.proof.replaceChildren(...(quotes ? [`“${quotes}” `, make("button", {
      type: "button", "aria-label": `Remove the words of ${one.title}`, onclick: () => forget(slot),
    }, "remove")] : []));
  }
  for (const button of document.querySelectorAll("[data-sure]")) {
    button.setAttribute("aria-pressed", String(+button.dataset.sure === draft.confidence));
  }
  if ($("note") && document.activeElement !== $("note")) $("note").value = draft.note;
  $("place").textContent = placeOf() + (features ? ` · ${looked} of ${features} looked at` : "");
  paint();
  mark();
  remember();
}

function forget(slot) {
  const evidence = { ...draft.evidence };
  delete evidence[slot.key];
  edit({ evidence });
}

function confidence() {
  const box = make("div", { class: "answers", role: "group", "aria-label": "How sure are you?" });
  SURE.forEach((title, value) => box.append(make("button", {
    type: "button", "data-sure": value,
    onclick: (event) => { sure(value); if (event.detail) event.target.blur(); },
  }, make("kbd", {}, String(value)), title)));
  return make("div", { class: "question wide" }, make("p", {}, "How sure are you?"), box);
}

function sure(value) {
  edit({ confidence: draft.confidence === value || value > 3 ? null : value });
}

function note() {
  const input = make("input", { id: "note", maxlength: 2000, autocomplete: "off", onchange: () => {
    edit({ note: input.value.trim() });
  } });
  const label = make("label", { for: "note" }, make("kbd", { "aria-hidden": true }, "n"), " Note");
  return make("div", { class: "question wide" }, label, make("div", { class: "answers" }, input));
}

function attempt() {
  if (attempts === 20) return say("a response has at most 20 attempts");
  attempts += 1;
  lay();
  at = slots.findIndex((slot) => slot.attempt === attempts);
  mark();
  slots[at].row.scrollIntoView({ block: "center" });
  return say(`Attempt ${attempts}`);
}

function comparison() {
  const rows = slots.filter((slot) => slot.key in view.right).map((slot) => {
    const own = answered(slot.key) ?? (view.confirmed.includes(slot.key) ? 0 : null);
    return { slot, own, right: view.right[slot.key], differs: own !== view.right[slot.key] };
  }).sort((one, other) => other.differs - one.differs);
  const alike = rows.filter((one) => !one.differs).length;
  const heads = ["Question", "Yours", "Right"].map((one) => make("th", { scope: "col" }, one));
  const lines = rows.map(({ slot, own, right, differs }) => make("tr", { class: differs ? "differs" : "same" },
    make("th", { scope: "row" }, slot.question.title,
      differs ? make("p", {}, slot.question.definition) : null),
    ...[own, right].map((one) => make("td", {}, wordsOf(slot.question, one, slot.key)))));
  return make("section", {}, make("h2", {}, "Right answers"),
    make("p", {}, `${alike} of ${rows.length} as yours`),
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines)));
}

// ------------------------------------------------------------------ words of the text

function words() {
  const said = form.shows.includes("text") && view.phase !== "over";
  const parts = view.text.split(/\s+/).filter(Boolean);
  $("text").hidden = !said || (form.spoken && !view.text);
  $("text").replaceChildren(...parts.flatMap((word, index) => [make("span", { "data-word": index }, word), " "]));
  if (said && !parts.length) $("text").textContent = "(nothing was said)";
  if (parts.length && view.phase === "rate") {
    $("hint").textContent = "Mark words, then press a letter or an answer: they are stored with it.";
  }
}

const spans = () => $("text").querySelectorAll("[data-word]");

function quoted(marked) {
  const parts = view.text.split(/\s+/).filter(Boolean);
  return marked.map((word, index) => {
    const between = marked[index - 1] === word - 1 ? " " : " … ";
    return (index ? between : "") + parts[word];
  }).join("");
}

function paint() {
  const shown = new Set(Object.values(draft.evidence).flat());
  spans().forEach((span, index) => {
    span.classList.toggle("shows", shown.has(index));
    span.classList.toggle("chosen", chosen !== null && chosen[0] <= index && index <= chosen[1]);
    span.classList.toggle("at", document.activeElement === $("text") && index === cursor);
  });
}

function choose(first, last) {
  chosen = [Math.min(first, last), Math.max(first, last)];
  paint();
  const all = chosen[1] - chosen[0] + 1;
  say(`${plural(all, "word")} marked: press the letter, or the answer, that they show`);
}

function release() {
  chosen = null;
  getSelection().removeAllRanges();
  say("");
  paint();
}

document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  if (!view || view.phase !== "rate" || selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0);
  const inside = [...spans()].filter((span) => range.intersectsNode(span))
    .map((span) => +span.dataset.word);
  if (inside.length) choose(inside[0], inside[inside.length - 1]);
});
$("text").addEventListener("click", (event) => {
  const word = event.target.dataset.word;
  cursor = +word || cursor;
  if (!getSelection().isCollapsed || view.phase !== "rate") return;
  if (word === undefined || (chosen && chosen[0] === +word && chosen[1] === +word)) release();
  else choose(event.shiftKey && chosen ? chosen[0] : +word, +word);
});
$("text").addEventListener("focus", () => paint());
$("text").addEventListener("blur", () => paint());
$("text").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], last = spans().length - 1;
  if (!step || last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const before = cursor;
  cursor = Math.min(Math.max(cursor + step, 0), last);
  const held = chosen && (chosen[0] === before ? chosen[1] : chosen[0]);
  if (event.shiftKey) choose(chosen ? held : before, cursor);
  else { chosen = null; say(spans()[cursor].textContent); }
  paint();
});

// ------------------------------------------------------------------ words and phonemes as answers

function field(slot, id) {
  const spoken = slot.question.kind === "phonemes";
  const input = make("input", {
    "aria-labelledby": id, maxlength: 2000, autocomplete: "off", autocapitalize: "off",
    autocorrect: "off", spellcheck: "false", lang: spoken ? "en-fonipa" : null,
  });
  const reading = make("p", { class: "reading", role: "status" });
  input.value = answered(slot.key) === UNSURE ? "" : answered(slot.key) ?? "";
  if (!spoken) {
    input.addEventListener("change", () => put(slot, input.value.trim() || null));
    return [input];
  }
  let pause = 0;
  const check = async (kept) => {
    clearTimeout(pause);
    const text = input.value;
    const told = await send({ what: "phonemes", text });
    if (!told || text !== input.value) return;
    reading.textContent = told.reading || "";
    input.setAttribute("aria-invalid", String(Boolean(told.wrong)));
    if (!kept || !told.wrong) return;
    const [begins, count] = told.wrong;
    input.focus();
    input.setSelectionRange(begins, begins + count);
  };
  // The server stores what it reads, and refuses what it cannot read.
  const keep = () => { put(slot, input.value.trim() || null); check(true); };
  input.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(check, 200); });
  input.addEventListener("change", keep);
  const type = (label, ipa) => {
    const labels = /^[A-Z0-2<>a-z ]*$/.test(input.value) && /[A-Z<]/.test(input.value);
    const [first, end] = [input.selectionStart, input.selectionEnd];
    input.setRangeText(labels ? ` ${label}` : ipa, first, end, "end");
    keep();
  };
  const rows = Object.entries(form.phonemes).map(([title, own]) => make("div", {
    class: "sounds", role: "group", "aria-label": title,
  }, ...own.map(([label, ipa]) => make("button", {
    type: "button", title: label, "aria-label": `${ipa} ${label}`, onclick: () => type(label, ipa),
  }, ipa))));
  const board = make("details", {}, make("summary", {}, "Keyboard"), ...rows);
  return [input, reading, board];
}

// ------------------------------------------------------------------ sound

const sound = { first: null, last: null, drag: null };
const audio = $("audio");

function listen(told) {
  $("picture").hidden = !told.picture;
  if (told.picture) $("picture").src = told.picture;
  $("player").hidden = !told.sound;
  if ($("picture").hidden) $("picture").removeAttribute("src");
  if (!told.sound) {
    audio.pause();
    audio.removeAttribute("src");
    return;
  }
  if (audio.getAttribute("src") !== told.sound) {
    audio.src = told.sound;
    sound.first = sound.last = null;
    rate(1);
  }
  view.sound = told.sound;
  $("wave").setAttribute("aria-valuemax", told.seconds.toFixed(1));
  draw();
}

function length() { return Number.isFinite(audio.duration) ? audio.duration : view.seconds || 0; }

function play() {
  if (!view.sound) return;
  if (!audio.paused) { audio.pause(); return; }
  const now = audio.currentTime;
  if (sound.first !== null && (now < sound.first || now >= sound.last - 0.02)) {
    audio.currentTime = sound.first;
  }
  audio.play().catch(() => say("The recording cannot be played here.", true));
}

function move(seconds) {
  audio.currentTime = Math.min(Math.max(audio.currentTime + seconds, 0), length());
  draw();
}

function rate(value) {
  audio.playbackRate = value;
  audio.preservesPitch = true;
  $("slow").setAttribute("aria-pressed", String(value !== 1));
}

function limit(side) {
  const now = audio.currentTime;
  const [first, last] = side === "from" ? [now, sound.last ?? length()] : [sound.first ?? 0, now];
  [sound.first, sound.last] = first < last ? [first, last] : [null, null];
  const part = `Part ${first.toFixed(1)} to ${last.toFixed(1)} s; = repeats it`;
  say(sound.first === null ? "No part is marked" : part);
  draw();
}

function repeat() {
  const on = $("repeat").getAttribute("aria-pressed") !== "true";
  $("repeat").setAttribute("aria-pressed", String(on));
  if (on && audio.paused) play();
}

function tick() {
  const on = $("repeat").getAttribute("aria-pressed") === "true";
  if (sound.first !== null && audio.currentTime >= sound.last - 0.01 && !audio.paused) {
    if (on) audio.currentTime = sound.first;
    else audio.pause();
  } else if (on && audio.ended) { audio.currentTime = 0; audio.play(); }
  draw();
  if (!audio.paused) requestAnimationFrame(tick);
}

function draw() {
  const canvas = $("canvas"), size = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
  if (!view || !view.sound || !size.width) return;
  canvas.width = size.width * scale;
  canvas.height = size.height * scale;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const contrast = matchMedia("(forced-colors: active)").matches;
  const color = (named, forced) => contrast ? forced : style.getPropertyValue(named);
  const all = length() || 1, peaks = view.peaks || [], x = (seconds) => seconds / all * canvas.width;
  if (sound.first !== null) {
    pen.fillStyle = color("--mark", "GrayText");
    pen.fillRect(x(sound.first), 0, x(sound.last) - x(sound.first), canvas.height);
  }
  pen.fillStyle = color("--accent", "CanvasText");
  const step = canvas.width / (peaks.length || 1);
  peaks.forEach((peak, index) => {
    const height = Math.max(peak / 100 * canvas.height * 0.94, scale);
    pen.fillRect(index * step, (canvas.height - height) / 2, Math.max(step * 0.8, 1), height);
  });
  pen.fillStyle = color("--ink", "Highlight");
  pen.fillRect(x(audio.currentTime), 0, 2 * scale, canvas.height);
  const now = `${audio.currentTime.toFixed(1)} of ${all.toFixed(1)} s`;
  $("time").textContent = now;
  $("wave").setAttribute("aria-valuenow", audio.currentTime.toFixed(1));
  $("wave").setAttribute("aria-valuetext", now);
  $("play").textContent = audio.paused ? "Play" : "Stop";
}

for (const event of ["play", "pause", "ended", "seeked", "loadedmetadata"]) {
  audio.addEventListener(event, tick);
}
audio.addEventListener("error", () => { if (audio.getAttribute("src") && !failures) renew(); });
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
$("wave").addEventListener("pointerdown", (event) => {
  event.currentTarget.setPointerCapture(event.pointerId);
  sound.drag = event.offsetX / $("canvas").clientWidth * length();
});
$("wave").addEventListener("pointerup", (event) => {
  if (sound.drag === null) return;
  const there = Math.min(Math.max(event.offsetX / $("canvas").clientWidth, 0), 1) * length();
  const [first, last] = [Math.min(sound.drag, there), Math.max(sound.drag, there)];
  [sound.first, sound.last] = last - first > 0.05 ? [first, last] : [null, null];
  sound.drag = null;
  audio.currentTime = first;
  draw();
});

// ------------------------------------------------------------------ guidelines and keys

function reveal(title, nodes) {
  $("heading").textContent = title;
  $("body").replaceChildren(...nodes);
  clock.hold();
  $("dialog").showModal();
  $("heading").focus();
}
$("dialog").addEventListener("close", () => { clock.touch(); $("work").focus({ preventScroll: true }); });

function guidelines() {
  if (!view.guidelines) return say("no guidelines; the title of a question opens its definition");
  const lines = view.guidelines.replaceAll("**", "").split("\n").filter((line) => line.trim());
  reveal(`Guidelines of ${view.set}`, lines.map((line) => line.startsWith("#")
    ? make("h3", {}, line.replace(/^#+\s*/, "")) : make("p", {}, line.replace(/^[-*]\s+/, "• "))));
  send({ what: "guidelines" });
  return undefined;
}

function help() {
  const heard = form.spoken, several = attemptable();
  const rows = [
    ["letter", "the question: present, again absent; of others it goes there"],
    ["-", "the question is absent; on to the next one that was not looked at"],
    ["shift letter, !", "cannot tell"],
    ["digit", "a point of a scale, an answer to choose, else how sure you are (0 to 3)"],
    ["delete", "take the answer away: not looked at"], ["up, down", "move between questions"],
    ["enter", "the sample is complete: the next one"],
    ["z, u", "the sample before; take back the last change"],
    ["n, g, F2, F4", "note; guidelines"], several && ["m, F3", "one more attempt"],
    heard && ["space, F8, l, F9", "play the recording; slowly"],
    heard && ["left, right", "half a second back or on"],
    heard && ["[ ] =", "a part begins or ends here; repeat it"],
    !heard && ["left, right", "in the text: word by word, with shift mark"],
    ["esc", "leave a field; take marks away"],
  ].filter(Boolean);
  const off = make("input", { type: "checkbox", id: "letters", onchange: () => store(off.checked) });
  off.checked = letters();
  const link = make("a", { href: `terminal${location.hash}` }, "Rate in a terminal instead");
  const lines = rows.map(([one, what]) =>
    make("tr", {}, make("th", { scope: "row" }, one), make("td", {}, what)));
  reveal("Keys", [
    form.notes ? make("p", {}, form.notes) : make("span"),
    make("table", {}, make("tbody", {}, ...lines)),
    make("p", {}, make("label", {}, off, " Keys of one letter are used")), make("p", {}, link),
  ]);
}

function letters() {
  try { return localStorage.getItem("tabwb letters") !== "off"; } catch { return true; }
}

function store(on) {
  try { localStorage.setItem("tabwb letters", on ? "on" : "off"); } catch { /* not kept */ }
}

// ------------------------------------------------------------------ keys

const COMMANDS = {
  Enter: next, z: () => want("back"), u: () => want("undo"), n: () => $("note").focus(),
  g: guidelines, "?": help, m: () => attemptable() && attempt(), "-": absent,
  "+": () => sure((draft.confidence ?? -1) + 1), "!": () => unsure(slots[at]),
  Delete: () => put(slots[at], null), " ": () => view.sound ? play() : turn(slots[at]), l: slowly,
  "[": () => limit("from"), "]": () => limit("until"), "=": repeat,
  ArrowUp: () => step(-1), ArrowDown: () => step(1),
  ArrowLeft: () => view.sound && move(-0.5), ArrowRight: () => view.sound && move(0.5),
};
const ALSO = {
  F1: "?", F2: "n", F3: "m", F4: "g", F6: "u", F7: "z", F8: " ", F9: "l", _: "-", Backspace: "Delete",
};
const ALWAYS = ["Enter", "z", "g", "?"];
const attemptable = () => form.questions.some((one) => one.each);

function slowly() {
  if (!view.sound) return;
  rate(audio.playbackRate === 1 ? 0.75 : 1);
  if (audio.paused) play();
}

function step(by) {
  at = (at + by + slots.length) % slots.length;
  mark();
  const slot = slots[at];
  slot.row.scrollIntoView({ block: "nearest" });
  say(`${slot.question.title}: ${wordsOf(slot.question, answered(slot.key), slot.key)}`);
}

function absent() {
  const slot = slots[at];
  const feature = (one) => one.question.kind === "present-absent";
  if (!feature(slot)) return say(`${slot.question.title}: absent is not an answer here`);
  put(slot, 0);
  const order = [...slots.slice(at + 1), ...slots.slice(0, at)];
  const open = order.find((one) => feature(one) && answered(one.key) === null);
  if (open) { at = slots.indexOf(open); mark(); open.row.scrollIntoView({ block: "nearest" }); }
  return undefined;
}

function unsure(slot) { put(slot, answered(slot.key) === UNSURE ? null : UNSURE); }

function turn(slot) {
  const one = slot.question, now = answered(slot.key);
  const values = optionsOf(one).map((each) => each.value).filter((value) => value !== UNSURE);
  if (one.kind === "present-absent") put(slot, now === 1 && !chosen ? 0 : 1);
  else if (one.kind === "scale") put(slot, values[(values.indexOf(now) + 1) % values.length]);
  else goTo(slot);
}

function goTo(slot) {
  at = slots.indexOf(slot);
  mark();
  slot.row.scrollIntoView({ block: "nearest" });
  const keyed = slot.question.options.length && slot.question.options.every((one) => one.key);
  if (slot.question.kind !== "scale" && !keyed) {
    const first = slot.answers.querySelector("input, [aria-pressed=true], button");
    first.focus();
  } else say(slot.question.title);
}

function slotOf(letter) {
  const attempt = slots[at] && slots[at].attempt || attempts;
  return slots.find((slot) => slot.question.key === letter &&
    (!slot.attempt || slot.attempt === attempt));
}

function optionAt(slot, key) {
  return optionsOf(slot.question).find((one) => one.key === key && one.value !== UNSURE);
}

// The highlighted question first; then the only other choice with the key, in the last attempt.
function choice(key) {
  const attempt = slots[at].attempt || attempts;
  const others = slots.filter((slot) => slot.question.kind === "choice" &&
    slot.question.measure !== "source" && (!slot.attempt || slot.attempt === attempt));
  const slot = [slots[at], ...others].find((one) => optionAt(one, key));
  if (!slot) return false;
  put(slot, optionAt(slot, key).value);
  if (slot.question.measure === "source") at = 0;
  return true;
}

function next() {
  if (view.phase === "feedback") { want("go-on"); return; }
  if (view.phase !== "rate") return;
  const done = new Set(slots.filter((slot) => answered(slot.key) !== null)
    .map((slot) => slot.question)); // an answer to one attempt is enough
  const open = slots.find(({ question: one }) => !one.optional && !done.has(one) &&
    (one.kind !== "present-absent" || form.asks));
  if (open) {
    goTo(open);
    say(`${open.question.title}: an answer is needed`, true);
  } else want("finish", { confirms: Boolean(asked) });
}

function key(event) {
  const one = event.key;
  if (wanted && failures === 0) {
    // A second Enter answers nothing that was not on the screen when it was pressed.
    if (one !== "Enter") queue.push({ key: one });
    return;
  }
  if (one === "Escape") { release(); return; }
  clock.touch();
  const rates = view.phase === "rate", digit = /^[0-9]$/.test(one);
  const slot = rates && one.length === 1 ? slotOf(one) : null;
  const command = slot ? "" : ALSO[one] || one;
  if (command in COMMANDS && (rates || ALWAYS.includes(command))) COMMANDS[command]();
  else if (!rates) return;
  else if (digit && choice(one)) return;
  else if (slot) slot.question.kind === "present-absent" ? turn(slot) : goTo(slot);
  else if (/^[0-3]$/.test(one)) sure(+one);
  else if (/^[A-Z]$/.test(one) && slotOf(one.toLowerCase())) unsure(slotOf(one.toLowerCase()));
  else if (digit) say(`${one} is not an answer to ${slots[at].question.title}`);
  else if (one.length === 1) choice(one);
  if (slot) slot.row.scrollIntoView({ block: "nearest" });
}

// What escape brings back in a field.
document.addEventListener("focusin", ({ target }) => {
  if (target.matches("input")) target.defaultValue = target.value;
});
document.addEventListener("keydown", (event) => {
  const target = event.target, one = event.key;
  if (!view || $("work").hidden || $("dialog").open) return;
  // Some keyboards have brackets under AltGr, which also counts as ctrl and alt.
  const held = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
  if (held || event.metaKey) return;
  if (target.matches("input")) {
    if (one === "Enter" || one === "Escape") {
      event.preventDefault();
      if (one === "Escape") target.value = target.defaultValue;
      target.blur();
    }
    return;
  }
  const known = one in COMMANDS || one in ALSO || one === "Escape" || one.length === 1;
  if (!known || (target.matches("button, summary, a") && (one === "Enter" || one === " "))) return;
  if (one.length === 1 && one !== " " && !letters()) return;
  event.preventDefault();
  if (!event.repeat || !["Enter", "u", "z", "F6", "F7"].includes(one)) key(event);
});

for (const [id, run] of Object.entries({
  back: () => want("back"), undo: () => want("undo"), guide: guidelines, help, next, play, repeat,
  slow: slowly, from: () => limit("from"), until: () => limit("until"),
  skip: () => $("questions").focus(), again: () => location.reload(),
})) {
  $(id).addEventListener("click", (event) => { run(); if (event.detail) $(id).blur(); });
}
for (const button of document.querySelectorAll("[data-move]")) {
  button.addEventListener("click", () => move(+button.dataset.move));
}
addEventListener("hashchange", () => location.reload());
document.querySelector("footer").hidden = true;
begin();
