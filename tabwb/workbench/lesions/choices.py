"""Which model and battery a page of lesions offers, and begins with."""

from __future__ import annotations

from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.fields import Combo, Known


def combo_of_models(name: str, catalogue: Catalogue | None, help_text: str) -> Combo:
    """Return a field with the models that can be lesioned; the first usable one is chosen.

    Args:
        name: of the field.
        catalogue: None while it is loaded.
        help_text: of the field.
    """
    known = [
        Known(one.spec, one.shape, one.title, one.unavailable_reason)
        for one in (() if catalogue is None else catalogue.models)
        if one.lesions
    ]
    first = next((one.value for one in known if not one.unavailable_reason), "")
    return Combo(name, first, known, help_text)


def combo_of_batteries(name: str, catalogue: Catalogue | None, help_text: str) -> Combo:
    """Return a field with the batteries that are answered in text; TAB is chosen.

    Args:
        name: of the field.
        catalogue: None while it is loaded.
        help_text: of the field.
    """
    known = [
        Known(one.id, one.id, one.title, one.problem)
        for one in (() if catalogue is None else catalogue.batteries)
        if not one.aloud
    ]
    first = next((one.value for one in known if one.value == "tab"), "")
    return Combo(name, first, known, help_text)
