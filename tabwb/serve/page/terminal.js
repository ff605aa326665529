// Opens the rating screen in a terminal: sends the key behind "#", which no request contains, gets a ticket for one
// web socket, and lets textual-serve's terminal draw what comes through it.
"use strict";

const RETRY_S = 10;

function fontSize() {
  // 80 columns and 24 lines have to fit; a character is 0.6 of its size wide and 1.35 high.
  const fits = Math.min(window.innerWidth / (80 * 0.61), window.innerHeight / (24 * 1.36));
  return Math.max(7, Math.min(16, Math.floor(fits)));
}

async function show(ticket) {
  const size = fontSize();
  await Promise.allSettled(["", "bold ", "italic "].map(
    (style) => document.fonts.load(`${style}${size}px "Roboto Mono"`)));
  const socket = new URL(`ws/${ticket}`, window.location.href);
  socket.protocol = socket.protocol === "https:" ? "wss:" : "ws:";
  socket.hash = "";
  const terminal = document.createElement("div");
  terminal.className = "textual-terminal";
  terminal.dataset.sessionWebsocketUrl = socket.href;
  terminal.dataset.fontSize = String(size);
  document.body.append(terminal);
  new MutationObserver(() => {
    const states = document.body.classList;
    if (states.contains("-closed")) {
      tell("closed");
      document.getElementById("again").focus();
    } else if (states.contains("-first-byte") && !document.getElementById("notice").hidden) {
      document.getElementById("notice").hidden = true;
      const input = terminal.querySelector("textarea");
      if (input) input.focus();
    }
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  const script = document.createElement("script");
  script.src = "static/textual.js";
  // It begins when the window is loaded, which has happened already.
  script.onload = () => window.onload(new Event("load"));
  document.body.append(script);
}

async function open() {
  let reply;
  try {
    reply = await fetch("open", {
      method: "POST", body: window.location.hash.slice(1), cache: "no-store",
      headers: { "Content-Type": "text/plain" },
    });
  } catch {
    reply = { status: 503 };
  }
  if (reply.status === 200) return show((await reply.json()).ticket);
  const kind = reply.status in NOTICES ? reply.status : 503;
  const words = kind === 503 && reply.json ? (await reply.json().catch(() => ({}))).words : "";
  tell(kind, words);
  if (kind === 429 || kind === 503) window.setTimeout(open, RETRY_S * 1000);
  return undefined;
}

document.getElementById("again").addEventListener("click", () => window.location.reload());
window.addEventListener("hashchange", () => window.location.reload());
window.addEventListener("load", () => window.setTimeout(open));
