// The page of a rater: shows what the server gives, sends what is answered, one request at a time.
// A request without a reply is repeated as it was, so that nothing is stored twice; until then it is
// kept in this browser. Answers that the server has otherwise are shown as the server has them.
"use strict";

const UNSURE = "cannot-tell";
const PAUSE_S = 180;
const WAITS_S = [1, 2, 4, 8, 10];
const MOST_BYTES = 64000;
const $ = (id) => document.getElementById(id);
const CONFLICT = "Shown is what is stored: it was changed elsewhere meanwhile.";
const OFFLINE = "No connection. What you answer is kept in this browser and sent when the connection " +
  "is back.";
const LATE = " Only your last answers were not sent: they are kept in this browser.";
const MOVES = { undo: "Undo", back: "The sample before", "go-on": "The next sample" };
const plain = (one) => JSON.stringify([Object.entries(one.answers).sort(), one.confidence, one.note,
  Object.entries(one.evidence).sort()]);
const same = (one, other) => plain(one) === plain(other);

let ticket = "", form = null, view = null, slots = [];
let draft = null, stored = null, version = 0; // drafts are never changed, but replaced
let job = null, wanted = null, pumping = false, failures = 0, timer = 0, reopened = false;
let at = 0, attempts = 1, chosen = null, cursor = 0, queue = [];
let steps = []; // changes that were not sent yet, each of which can be undone

function make(name, attributes = {}, ...inside) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...inside.filter((one) => one != null));
  return node;
}

function say(words, asks = false) {
  $("said").textContent = words;
  $("said").classList.toggle("asks", asks);
}

// What this browser keeps by a name; some browsers keep nothing.
function kept(name, value) {
  try {
    if (value === undefined) return JSON.parse(localStorage.getItem(name));
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch { /* as if there were nothing */ }
  return null;
}

const busy = () => wanted && !failures; // another sample is coming

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

// Returns what the server says, or null without a reply: the connection or the server is gone.
// One request at a time: of two that find no server, both would ask for a ticket.
let last = Promise.resolve();
function send(request) {
  last = last.then(() => deliver(request));
  return last;
}

async function deliver(request, again = true) {
  try {
    if (!ticket) {
      const opened = await post("open", location.hash.slice(1));
      if (opened.status !== 200) throw opened;
      ticket = (await opened.json()).ticket;
      reopened = true;
    }
    const reply = await post("rating", JSON.stringify({ ticket, ...request }));
    if (reply.status === 404) {
      ticket = "";
      if (again) return await deliver(request, false);
      throw new Error("no seat");
    }
    if (reply.status === 422) return { refused: (await reply.json()).words };
    if (reply.status !== 200) throw reply;
    failures = 0;
    $("offline").textContent = "";
    return await reply.json();
  } catch (problem) {
    failures += 1;
    const status = problem instanceof Response ? problem.status : 0, ends = [404, 410].includes(status);
    const words = status === 503 ? (await problem.json().catch(() => ({}))).words : "";
    if (ends || !view) {
      const late = view && !same(draft, stored) ? LATE : "";
      tell(status in NOTICES ? status : 503, words, late);
      $("work").hidden = $("foot").hidden = true;
    } else if (failures > 1) $("offline").textContent = words || OFFLINE;
    if (!ends) wait();
    return null;
  }
}

function wait() {
  clearTimeout(timer);
  const seconds = WAITS_S[Math.min(failures, WAITS_S.length) - 1];
  timer = setTimeout(() => view ? pump() : begin(), seconds * 1000);
}
addEventListener("online", () => { if (failures && view) pump(); });

async function begin() {
  let told = await send({ what: "view" });
  if (!told || !told.form) return;
  form = told.form;
  reopened = false;
  $("sure").replaceChildren(...form.sure.map((title, value) => make("button", {
    type: "button", "data-sure": value, onclick: () => sure(value),
  }, make("kbd", {}, String(value)), title)));
  const own = kept(nameOf(told.view));
  if (own && own.place !== told.view.place) told = await send({ what: "view", place: own.place });
  if (!told) return;
  adopt(told.view);
  if (!own || view.place !== own.place || view.phase !== "rate" || same(own.draft, stored)) return;
  // What is stored is what these answers followed, or what was sent before a reply was lost.
  if (version !== own.version && !(own.sent && same(stored, own.sent))) say(CONFLICT, true);
  else changed(own.draft);
}

const nameOf = (one) => `tabwb ${one.id} ${one.rater}`;

const request = (what, more) => ({
  what, place: view.place, version, seconds: Math.round(clock.seconds * 1000) / 1000, ...more,
});

async function pump() {
  if (pumping) return;
  pumping = true;
  try {
    while (await advance());
  } finally {
    pumping = false;
    remember();
    while (queue.length && !wanted) key(queue.shift());
  }
}

// Sends what is not stored yet, else what is wanted (the next sample, the one before ...); returns
// whether there may be more to send.
async function advance() {
  if (!job && !wanted && same(draft, stored)) {
    steps = [];
    return reopened && renew();
  }
  const finishes = wanted && wanted.what === "finish"; // with its answers
  if (!job && wanted && (finishes || (!steps.length && same(draft, stored)))) {
    steps = [];
    job = request(wanted.what, { ...wanted, draft: finishes ? draft : null });
  } else if (!job) job = request("keep", { draft: steps.shift() || draft });
  remember();
  const done = job, told = await send(done);
  if (!told) { // the request is repeated as it is
    queue = []; // for a sample that was not shown
    if (wanted && wanted.what in MOVES) say(`${MOVES[wanted.what]} waits for the connection.`, true);
  }
  if (!told || done !== job) return Boolean(told);
  job = null;
  if (told.view) {
    wanted ||= done; // no change is taken: what is in a field belongs to what was shown
    if (document.activeElement.matches("input")) document.activeElement.blur();
    wanted = null;
    say("");
    adopt(told.view);
    if (told.conflict) say(CONFLICT, true);
  } else if (told.refused) {
    wanted = null;
    steps = [];
    say(`Not saved: ${told.refused}`, true);
    if (done.what === "keep") takeBack();
  } else {
    version = told.version;
    stored = done.draft;
  }
  return true;
}

// Of what was refused, takes back the phonemes; where there are none, all that is not stored.
function takeBack() {
  const { answers: before } = stored, answers = { ...draft.answers };
  const spoken = slots.filter(({ question, key }) => question.kind === "phonemes" &&
    answers[key] !== before[key]);
  for (const { key } of spoken) {
    if (key in before) answers[key] = before[key];
    else delete answers[key];
  }
  draft = spoken.length ? { ...draft, answers } : stored;
  show();
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
  kept(nameOf(view), saved ? null : { place: view.place, version, draft, sent: job && job.draft });
  const words = saved ? "✓ saved" : waits ? "! kept here, not sent" : "… saving";
  $("saved").textContent = view.phase === "rate" || !saved ? words : "";
  $("saved").classList.toggle("waits", waits);
  $("next").textContent = view.asked ? "Confirm" : "Next";
}

// Takes a change; none while another sample is coming, and none that is too long for a request.
function edit(change) {
  const next = { ...draft, ...change };
  if (busy()) return;
  if (new Blob([JSON.stringify(next)]).size <= MOST_BYTES) changed(next);
  else say("Not taken: too many words are marked for this sample.", true);
}

function changed(next) {
  if (wanted) { // it waits for the connection: the answer takes its place
    if (wanted.what in MOVES) say(`${MOVES[wanted.what]} was not done: no connection.`, true);
    job = job && job.draft && { ...job, what: "keep", confirms: false };
    wanted = null;
  }
  draft = next;
  view.asked = null;
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

function adopt(told) {
  const other = !view || view.place !== told.place || view.phase !== told.phase;
  view = told;
  steps = [];
  const { answers, confidence, note, evidence } = view;
  draft = stored = { answers, confidence, note, evidence };
  version = view.version;
  chosen = null;
  if (other) {
    clock.begin(view.spent);
    at = cursor = attempts = 0;
  }
  const numbers = Object.keys(draft.answers).map((key) => +key.split("#")[1] || 1);
  attempts = Math.max(attempts, 1, ...numbers);
  $("notice").hidden = true;
  $("work").hidden = $("foot").hidden = false;
  $("set").textContent = view.set;
  $("rater").textContent = `rater ${view.rater}`;
  $("progress").max = view.planned;
  $("progress").value = view.done;
  $("place").textContent = view.phase === "over" ? "" : placeOf();
  for (const part of ["prompt", "before", "after"]) $(part).textContent = view[part];
  $("target").replaceChildren(...(view.target ? ["expected: ", make("b", {}, view.target)] : []));
  listen(view);
  lay();
  if (view.asked) say(view.asked, true);
  if (other) { scrollTo(0, 0); $("work").focus({ preventScroll: true }); }
  if (view.first && view.phase !== "over") { view.first = false; guidelines(); }
}

const placeOf = () => `Sample ${view.place} of ${view.planned}${view.learning ? " · learning" : ""}`;

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

function lay() {
  slots = slotsOf();
  const rates = view.phase === "rate", box = $("asked");
  const titles = Object.fromEntries(form.groups.map((one) => [one.id, one.title]));
  box.replaceChildren();
  if (view.phase === "feedback") box.append(comparison());
  else if (!rates) {
    const withheld = `${view.withheld} are not shown: their speakers do not agree to rating now.`;
    box.append(make("h2", {}, "Thank you"),
      make("p", {}, `${view.done} of ${view.planned} samples are rated.`),
      view.withheld ? make("p", {}, withheld) : "");
  }
  let before = "";
  for (const [index, slot] of rates ? slots.entries() : []) {
    const title = slot.attempt ? `Attempt ${slot.attempt}` : titles[slot.question.group] || "";
    if (title && title !== before) box.append(make("h2", { class: "group" }, title));
    before = title;
    box.append(row(slot, index));
  }
  $("more").hidden = !rates || form.attempts === 1;
  $("you").hidden = !rates;
  for (const id of ["undo", "next"]) $(id).hidden = view.phase === "over";
  words();
  show();
}

function row(slot, index) {
  const one = slot.question, id = `q${index}`, options = one.answers;
  const wide = one.kind !== "present-absent" && (options.length > 6 || one.kind !== "scale");
  const number = slot.attempt && make("span", { class: "hidden" }, `, attempt ${slot.attempt}`);
  const title = make("span", { id }, one.title, number);
  const meanings = options.filter((each) => each.definition).flatMap((each) => [
    make("dt", {}, each.words), make("dd", {}, each.definition)]);
  const about = make("details", {},
    make("summary", {}, make("kbd", { "aria-hidden": true }, one.key), title),
    one.definition ? make("p", {}, one.definition) : null,
    one.kind === "scale" ? make("p", {}, options.map((each) => each.words).join(", ")) : null,
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
      type: "button", "data-value": each.value,
      ...each.short !== each.words && { "aria-label": each.words, title: each.words },
      "aria-keyshortcuts": one.kind === "present-absent" && each.value === 1 && one.key,
      onclick: () => put(slot, answered(slot.key) === each.value ? null : each.value),
    }, each.key ? make("kbd", {}, each.key) : null, each.short));
  }
  slot.row = make("div", { class: `question ${wide ? "wide" : one.kind}` },
    about, slot.answers, slot.state, slot.proof);
  for (const event of ["pointerdown", "focusin"]) {
    slot.row.addEventListener(event, () => { at = index; mark(); });
  }
  return slot.row;
}

function put(slot, value) {
  if (busy()) return;
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
  say(`${slot.question.title}: ${wordsOf(slot, value)}`);
  edit({ answers, evidence });
}

function wordsOf({ question: one, key }, value) {
  if (value !== null) return (one.answers.find((each) => each.value === value) || { words: value }).words;
  return one.open + (view.complete && view.confirmed.includes(key) ? ", confirmed as absent" : "");
}

function mark() {
  slots.forEach((slot, index) => slot.row && slot.row.classList.toggle("at", index === at));
}

function moveTo(index, block = "nearest") {
  at = index;
  mark();
  slots[at].row.scrollIntoView({ block });
}

function show() {
  if (!view || view.phase !== "rate") return;
  let looked = 0, features = 0;
  for (const slot of slots) {
    const value = answered(slot.key), one = slot.question;
    if (one.kind === "present-absent") { features += 1; looked += value !== null; }
    slot.row.classList.toggle("open", value === null);
    const silent = one.kind === "scale" && value === null;
    slot.state.textContent = silent ? "" : wordsOf(slot, value);
    for (const button of slot.answers.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
    }
    const quotes = quoted(draft.evidence[slot.key] || []);
    slot.proof.replaceChildren(...(quotes ? [`“${quotes}” `, make("button", {
      type: "button", "aria-label": `Remove the words of ${one.title}`,
      onclick: () => edit({ evidence: { ...draft.evidence, [slot.key]: [] } }),
    }, "remove")] : []));
  }
  for (const button of document.querySelectorAll("[data-sure]")) {
    button.setAttribute("aria-pressed", String(+button.dataset.sure === draft.confidence));
  }
  if (document.activeElement !== $("note")) $("note").value = draft.note;
  $("place").textContent = placeOf() + (features ? ` · ${looked} of ${features} looked at` : "");
  paint();
  mark();
  remember();
}

function sure(value) {
  edit({ confidence: draft.confidence === value || value >= form.sure.length ? null : value });
}

$("note").addEventListener("change", () => edit({ note: $("note").value.trim() }));

function attempt() {
  if (attempts === form.attempts) return say(`a response has at most ${attempts} attempts`);
  attempts += 1;
  lay();
  moveTo(slots.findIndex((slot) => slot.attempt === attempts), "center");
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
    ...[own, right].map((one) => make("td", {}, wordsOf(slot, one)))));
  return make("section", {}, make("h2", {}, "Right answers"),
    make("p", {}, `${alike} of ${rows.length} as yours`),
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines)));
}

// ------------------------------------------------------------------ words of the text

function words() {
  const said = form.shows.includes("text") && view.phase !== "over";
  const parts = view.words;
  $("text").hidden = !said || (form.spoken && !parts.length);
  $("text").replaceChildren(...parts.flatMap((word, index) => [make("span", { "data-word": index }, word), " "]));
  if (said && !parts.length) $("text").textContent = "(nothing was said)";
  $("hint").hidden = !parts.length || view.phase !== "rate";
}

const spans = () => $("text").querySelectorAll("[data-word]");

function quoted(marked) {
  const said = spans(), between = (at) => marked[at - 1] === marked[at] - 1 ? " " : " … ";
  return marked.map((word, at) => (at ? between(at) : "") + said[word].textContent).join("");
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
  say(`${all} word${all > 1 ? "s" : ""} marked: press the letter, or the answer, that they show`);
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
for (const event of ["focus", "blur"]) $("text").addEventListener(event, paint);
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

const audio = $("audio"), sound = { first: null, last: null, drag: null };

function listen(told) {
  view.sound = told.sound;
  $("picture").hidden = !told.picture;
  $("player").hidden = !told.sound;
  if (told.picture) $("picture").src = told.picture;
  else $("picture").removeAttribute("src");
  if (!told.sound) {
    audio.pause();
    audio.removeAttribute("src");
  } else {
    if (audio.getAttribute("src") !== told.sound) {
      audio.src = told.sound;
      rate(1);
      part(0, 0);
    }
    const peaks = told.peaks || [];
    $("drawn").setAttribute("viewBox", `0 0 ${peaks.length || 1} 100`);
    $("bars").setAttribute("d", peaks.map((peak, x) => {
      const half = Math.max(peak, 1) * 0.47;
      return `M${x + 0.5} ${50 - half}v${2 * half}`;
    }).join(""));
    $("wave").setAttribute("aria-valuemax", told.seconds.toFixed(1));
    draw();
  }
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

// Marks a part of the recording; none where it is too short.
function part(first, last, least = 0) {
  [sound.first, sound.last] = last - first > least ? [first, last] : [null, null];
  draw();
}

function limit(side) {
  const now = audio.currentTime;
  if (side === "from") part(now, sound.last ?? length());
  else part(sound.first ?? 0, now);
  say(sound.first === null ? "No part is marked"
    : `Part ${sound.first.toFixed(1)} to ${sound.last.toFixed(1)} s; = repeats it`);
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
  if (!view || !view.sound) return;
  const all = length() || 1, now = audio.currentTime, words = `${now.toFixed(1)} of ${all.toFixed(1)} s`;
  const share = (seconds) => `${seconds / all * 100}%`;
  $("part").setAttribute("x", share(sound.first ?? 0));
  $("part").setAttribute("width", share(sound.last - sound.first));
  $("now").setAttribute("x", share(now));
  $("time").textContent = words;
  $("wave").setAttribute("aria-valuenow", now.toFixed(1));
  $("wave").setAttribute("aria-valuetext", words);
  $("play").textContent = audio.paused ? "Play" : "Stop";
}

for (const event of ["play", "pause", "ended", "seeked", "loadedmetadata"]) {
  audio.addEventListener(event, tick);
}
audio.addEventListener("error", () => { if (audio.getAttribute("src") && !failures) renew(); });
$("wave").addEventListener("pointerdown", (event) => {
  event.currentTarget.setPointerCapture(event.pointerId);
  sound.drag = event.offsetX / $("wave").clientWidth * length();
});
$("wave").addEventListener("pointerup", (event) => {
  if (sound.drag === null) return;
  const there = Math.min(Math.max(event.offsetX / $("wave").clientWidth, 0), 1) * length();
  audio.currentTime = Math.min(sound.drag, there);
  part(audio.currentTime, Math.max(sound.drag, there), 0.05);
  sound.drag = null;
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
  const keys = $("keys").content.cloneNode(true), off = keys.querySelector("input");
  const there = { heard: form.spoken, read: !form.spoken, several: form.attempts > 1 };
  for (const one of keys.querySelectorAll("[data-if]")) one.hidden = !there[one.dataset.if];
  keys.querySelector("p").textContent = form.notes;
  keys.querySelector("a").href = `terminal${location.hash}`;
  off.checked = letters();
  off.addEventListener("change", () => kept("tabwb letters", off.checked));
  reveal("Keys", [keys]);
}

const letters = () => kept("tabwb letters") !== false;

// ------------------------------------------------------------------ keys

const COMMANDS = {
  Enter: next, z: () => want("back"), u: () => want("undo"), n: () => $("note").focus(),
  g: guidelines, "?": help, m: () => form.attempts > 1 && attempt(), "-": absent,
  "+": () => sure((draft.confidence ?? -1) + 1), "!": () => unsure(slots[at]),
  Delete: () => put(slots[at], null), " ": () => view.sound ? play() : turn(slots[at]), l: slowly,
  "[": () => limit("from"), "]": () => limit("until"), "=": repeat,
  ArrowUp: () => step(-1), ArrowDown: () => step(1),
  ArrowLeft: () => view.sound && move(-0.5), ArrowRight: () => view.sound && move(0.5),
};
const ALSO = {
  F1: "?", F2: "n", F3: "m", F4: "g", F6: "u", F7: "z", F8: " ", F9: "l", _: "-", Backspace: "Delete",
};

function slowly() {
  if (!view.sound) return;
  rate(audio.playbackRate === 1 ? 0.75 : 1);
  if (audio.paused) play();
}

function step(by) {
  moveTo((at + by + slots.length) % slots.length);
  say(`${slots[at].question.title}: ${wordsOf(slots[at], answered(slots[at].key))}`);
}

function absent() {
  const slot = slots[at];
  const feature = (one) => one.question.kind === "present-absent";
  if (!feature(slot)) return say(`${slot.question.title}: absent is not an answer here`);
  put(slot, 0);
  const order = [...slots.slice(at + 1), ...slots.slice(0, at)];
  const open = order.find((one) => feature(one) && answered(one.key) === null);
  return open && moveTo(slots.indexOf(open));
}

function unsure(slot) {
  if (slot.question.unsure) put(slot, answered(slot.key) === UNSURE ? null : UNSURE);
  else say(`${slot.question.title}: this form has no "cannot tell" here`);
}

// What one more press of the question's key does; words that are marked show what is present.
function turn(slot) {
  const { turns, kind } = slot.question, now = answered(slot.key);
  if (!(now in turns)) goTo(slot);
  else put(slot, kind === "present-absent" && now === 1 && chosen ? 1 : turns[now]);
}

function goTo(slot) {
  moveTo(slots.indexOf(slot));
  const choices = slot.question.answers.filter((one) => one.value !== UNSURE);
  if (choices.length && choices.every((one) => one.key)) say(slot.question.title);
  else slot.answers.querySelector("input, [aria-pressed=true], button").focus();
}

function slotOf(letter) {
  const attempt = slots[at] && slots[at].attempt || attempts;
  return slots.find((slot) => slot.question.key === letter &&
    (!slot.attempt || slot.attempt === attempt));
}

const optionAt = (slot, key) => slot.question.answers.find((one) => one.key === key);

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
  } else want("finish", { confirms: Boolean(view.asked) });
}

function key(event) {
  const one = event.key;
  if (busy()) { // a second Enter answers nothing that was not shown when it was pressed
    if (one !== "Enter") queue.push({ key: one });
    return;
  }
  if (one === "Escape") { release(); return; }
  clock.touch();
  const rates = view.phase === "rate", digit = /^[0-9]$/.test(one);
  const slot = rates && one.length === 1 ? slotOf(one) : null;
  const command = slot ? "" : ALSO[one] || one;
  if (command in COMMANDS && (rates || ["Enter", "z", "g", "?"].includes(command))) COMMANDS[command]();
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

for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => COMMANDS[button.dataset.key]());
}
$("skip").addEventListener("click", () => $("questions").focus());
$("again").addEventListener("click", () => location.reload());
document.addEventListener("click", ({ detail, target }) => { // keys go on to the page
  if (detail && target.matches("button, button *")) target.closest("button").blur();
});
addEventListener("hashchange", () => location.reload());
begin();
