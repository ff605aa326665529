"""Which model and battery a page of lesions offers, and begins with."""

from __future__ import annotations

from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.fields import Combo, Fields, Known


def combo_of_models(fields: Fields, catalogue: Catalogue | None) -> Combo:
    """Return a field with the models that can be lesioned; the first usable one is chosen."""
    known = [
        Known(one.spec, one.shape, one.title, one.unavailable_reason)
        for one in (() if catalogue is None else catalogue.models)
        if one.lesions
    ]
    first = next((one.value for one in known if not one.unavailable_reason), "")
    return fields.combo("model", first, known)


def combo_of_batteries(fields: Fields, catalogue: Catalogue | None) -> Combo:
    """Return a field with the batteries that are answered in text; TAB is chosen."""
    known = [
        Known(one.id, one.id, one.title, one.problem)
        for one in (() if catalogue is None else catalogue.batteries)
        if not one.aloud
    ]
    first = next((one.value for one in known if one.value == "tab"), "")
    return fields.combo("battery", first, known)
