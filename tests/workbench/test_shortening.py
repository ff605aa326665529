"""Names cut to a width keep what tells them apart."""

from __future__ import annotations

from tabwb.workbench.shell.shortening import shortened_apart


def test_names_that_would_look_alike_keep_what_differs() -> None:
    given = [f"m{n} (temperature {n}, options as given, whole battery)" for n in (1, 1, 2)]
    given[1] = given[1].replace("temperature 1", "temperature 0.7")
    shown = shortened_apart(given, 20)
    assert len(set(shown)) == 3
    assert all(len(name) <= 20 for name in shown)
    assert "0.7" in shown[1]


def test_names_that_differ_in_several_places_are_told_apart() -> None:
    given = [
        f"Linden-2407-{size}-{tuning}-revision-{revision}"
        for size in ("1b", "70b")
        for tuning in ("base", "instruct")
        for revision in range(3)
    ]
    shown = shortened_apart(given, 24)
    assert len(set(shown)) == len(given)
    assert all(len(name) <= 24 for name in shown)
    for name, cut in zip(given, shown, strict=True):
        assert name.split("-")[2] in cut
        assert cut.endswith(name[-1])
    files = shortened_apart([f"replay:model-{n}.jsonl" for n in range(2)], 10)
    assert ["0." in files[0], "1." in files[1]] == [True, True]
    assert len(set(shortened_apart([f"{'a' * 30}{n}{'b' * 30}" for n in range(12)], 10))) == 12
