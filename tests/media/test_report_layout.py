"""The report in a browser: what is on the first screen, and that nothing lies beside the window."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from tabwb.media.report import rendered
from tests.analysis.given import CONDITIONS
from tests.analysis.test_grouping import given
from tests.media.test_report import report, two

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
MEASURE = """<!doctype html><body><script>
const found = {}, sizes = [[1280, 900], [390, 844]];
for (const [width, height] of sizes) {
  const frame = document.createElement("iframe");
  Object.assign(frame, {width, height, src: "report.html"});
  frame.onload = () => {
    const page = frame.contentDocument, root = page.documentElement;
    const top = (tag) => page.querySelector(tag).getBoundingClientRect().top;
    const fold = (open) => page.querySelectorAll("details").forEach((one) => { one.open = open; });
    fold(true);
    const across = root.scrollWidth;
    fold(false);
    found[width] = {across, table: top("table"), figure: top("figure"),
      methods: top("#methods"), tall: root.scrollHeight};
    if (Object.keys(found).length === sizes.length) document.title = JSON.stringify(found);
  };
  document.body.append(frame);
}
</script></body>"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, float]]:
    """Where parts of a report begin, in pixels, by the width of the window."""
    if BROWSER is None:
        pytest.skip("no Chromium")
    folder: Path = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_bytes(rendered(two()))
    (folder / "measure.html").write_text(MEASURE, encoding="utf-8")
    words = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--dump-dom",
        (folder / "measure.html").as_uri(),
    ]  # fmt: skip
    told = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    title = re.search(r"<title>(.*?)</title>", told)
    assert title is not None, told
    found: dict[str, dict[str, float]] = json.loads(unescape(title[1]))
    return found


def test_figure_and_table_are_on_the_first_screen(
    places: Mapping[str, Mapping[str, float]],
) -> None:
    wide = places["1280"]
    assert wide["figure"] < wide["table"] < 900
    assert wide["methods"] > 0.9 * (wide["tall"] - 100)


@pytest.mark.parametrize("width", ["1280", "390"])
def test_nothing_lies_beside_the_window(
    places: Mapping[str, Mapping[str, float]], width: str
) -> None:
    assert places[width]["across"] <= int(width)


def test_the_report_of_one_session_is_printed_on_one_page(tmp_path: Path) -> None:
    if BROWSER is None:
        pytest.skip("no Chromium")
    page, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    page.write_bytes(rendered(report(given(1, CONDITIONS), figures=True)))
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={printed}",
             f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer",
             page.as_uri()]  # fmt: skip
    subprocess.run(words, capture_output=True, timeout=120, check=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) == 1
