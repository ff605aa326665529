"""The help of the rating screen: its keys, the questions of the form with their definitions."""

from __future__ import annotations

from collections.abc import Mapping

from tabwb.workbench.rating.keys import KEYS
from tabwb.workbench.rating.view_models import RatingView
from tabwb.workbench.shell.commands import key_label


def keys_text(view: RatingView, keys: Mapping[str, str], taken: frozenset[str]) -> str:
    """Return keys and definitions as Markdown.

    Args:
        view: of the sample.
        keys: of the questions, by measure.
        taken: the keys that questions have.
    """
    lines = ["# Keys of this form", ""]
    kinds = {question.kind for question in view.form.questions}
    if "present-absent" in kinds:
        lines.append("- **letter** present, again absent; **shift+letter** cannot tell")
    if "scale" in kinds:
        lines.append("- **letter** goes to a question, a **digit** rates it; **shift+letter** "
                     "cannot tell")  # fmt: skip
    if "scale" not in kinds and not view.form.spoken:
        lines.append("- **0** to **3** how sure you are of the whole sample, **+** too")
    lines += ["- **arrows** move, **pageup** and **pagedown** scroll the text, the mouse answers"]
    for one in KEYS:
        if one.when(view):
            free = [key_label(key) for key in one.keys if key not in taken]
            lines.append(f"- **{'**, **'.join(free)}** {one.text}")
    lines += ["", "# Questions", ""]
    for question in view.form.questions:
        line = f"- **{keys[question.measure]}** *{question.title}*"
        if question.definition:
            line += f": {question.definition}"
        if question.example:
            line += f" Example: {question.example}"
        lines.append(line)
        lines += [
            f"    - **{option.key or option.value}** {option.title}"
            + (f": {option.definition}" if option.definition else "")
            for option in question.options
        ]
    return "\n".join(lines)
