// What both pages of raters say where a link does not open, by the status of the reply, and how.
"use strict";

const NOTICES = {
  404: ["This link does not open", "It may be incomplete, expired or withdrawn. Ask the person " +
    "who sent it for a new one. What you have rated is saved."],
  410: ["The study is closed", "What you have rated is saved. Thank you."],
  429: ["Too many wrong links", "Please wait. This page tries again by itself."],
  503: ["Please wait", "The study cannot be opened just now. What you have rated is saved. This " +
    "page tries again by itself."],
  closed: ["The rating page is closed", "What you have rated is saved."],
};

function tell(kind, words, more = "") {
  const [title, text] = NOTICES[kind];
  document.getElementById("title").textContent = title;
  document.getElementById("words").textContent = (words || text) + more;
  document.getElementById("again").hidden = kind === 404 || kind === 410;
  document.getElementById("notice").hidden = false;
}
