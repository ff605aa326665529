"""Makes the pictures of docs/ from the real program: TAB given to models, pictures named aloud.

    PYTHONPATH=. .venv/bin/python docs/pictures/make.py [NAME] [--theme dark]

NAME is workbench, results-by-model, laboratory, dial, lesion-curves, sweep (six pictures), naming,
rating, or figures: those of a made-up study (``study.py``), or rating-page: the page of raters at
three widths, which needs Playwright and Chromium.

Needs the development packages (resvg-py) and the font DejaVu Sans Mono.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from tabwb.records.series import Series
from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tabwb.workbench.app import make_workbench
from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.lesions.curves import CurvesPage
from tabwb.workbench.lesions.dial_page import DialPage
from tabwb.workbench.lesions.page import LesionsPage
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.rating.only import RatingApp
from tabwb.workbench.rating.worker import connection
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.app import Workbench
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.trial.actions import TrialActions
from tabwb.workbench.trial.draft import Draft

HERE = Path(__file__).parent
FONT_FOLDERS = ("/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/TTF", "/Library/Fonts")
PIXELS_PER_COLUMN = 11
PATIENCE = 3000
MODELS = ("bundled", "echo", "echo@text=Yes")
"""Those that are set side by side."""
SAID = (("bed", "1"), ("bird", "1"), ("dog", "3"), ("dog", "1"), ("", "4s"), ("three", "3"))
"""What is said to each picture of naming-demo, and the keys that score it."""


async def picture(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Give some items to the bundled model; the screen as SVG."""
    memory = folder / "memory.json"
    settings.save(settings.Remembered(notice_seen=True, theme=theme), memory)
    app = make_workbench(
        location=str(folder / "store.db"),
        offline=True,
        battery="tab",
        model="bundled",
        memory=memory,
    )
    async with app.run_test(size=size) as pilot:
        desk = app.desk
        await until(pilot, lambda: app.screen.query("#begin"))
        await pilot.press("enter")
        await until(pilot, lambda: desk.work and not desk.work.loading and desk.work.facts)
        for place in range(1, items + 1):
            await pilot.press("space")
            await until(pilot, partial(answered, app, place))
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        desk.close_worker()
    return drawn


async def by_model(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Give all items to several models and set them side by side; the screen as SVG."""
    memory, store = folder / "memory.json", folder / "store.db"
    settings.save(settings.Remembered(notice_seen=True, theme=theme), memory)
    for model in MODELS:
        command = ["-m", "tabwb", "run", "tab", "--model", model, "--store", str(store)]
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
    app = make_workbench(location=str(store), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.desk.catalogue)
        await pilot.press("m")
        await until(pilot, lambda: len(app.desk.query_one(ModelsPage).shown) == len(MODELS))
        await pilot.press("home")
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        app.desk.close_worker()
    return drawn


async def laboratory(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Give a subtest to the bundled model, intact and lesioned; the screen as SVG."""
    memory = folder / "memory.json"
    settings.save(settings.Remembered(notice_seen=True, theme=theme, explorer=False), memory)
    app = make_workbench(location=str(folder / "store.db"), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.desk.catalogue)
        await pilot.press("b")
        await until(pilot, lambda: app.desk.page == "lesions")
        page = app.desk.query_one(LesionsPage)
        await until(pilot, lambda: page.query_one("#lab-item", Input).value)
        page.query_one("#lab-spec", Input).value = "mlp:zero:0.08@seed=3"
        page.query_one("#lab-item", Input).value = "word-comprehension/wc1"
        await pilot.press("a")
        await until(pilot, lambda: page.state.lesion and page.state.phase == "ready")
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        app.desk.close_worker()
    return drawn


async def dial(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Turn the dial of the bundled model; the screen as SVG."""
    memory = folder / "memory.json"
    settings.save(settings.Remembered(notice_seen=True, theme=theme, explorer=False), memory)
    app = make_workbench(location=str(folder / "store.db"), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.desk.catalogue)
        await pilot.press("t")
        await until(pilot, lambda: app.desk.page == "dial")
        page = app.desk.query_one(DialPage)
        await until(pilot, lambda: page.setting)
        page.change(item="connected-text/ct2")
        await until(pilot, lambda: page.setting in page._done)
        page.turn_to(6)
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        app.desk.close_worker()
    return drawn


CURVES_GRID = """format = 1
[[lesions]]
targets = ["attention", "mlp"]
amounts = [0.05, 0.1, 0.15, 0.2]
seeds = [1, 2, 3, 4, 5]
controls = true
"""


async def lesion_curves(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Give a grid of lesions to the bundled model and draw a curve; the screen as SVG."""
    memory, store, grid = folder / "memory.json", folder / "store.db", folder / "grid.toml"
    settings.save(settings.Remembered(notice_seen=True, theme=theme, explorer=False), memory)
    grid.write_text(CURVES_GRID, encoding="utf-8")
    command = ["-m", "tabwb", "lesion", "sweep", "tab", "--model", "bundled", "--grid", str(grid)]
    command += ["--store", str(store)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    app = make_workbench(location=str(store), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.desk.catalogue)
        await pilot.press("w")
        await until(pilot, lambda: app.desk.page == "sweep")
        await pilot.press("escape", "g")
        await until(pilot, lambda: app.desk.query(CurvesPage))
        page = app.desk.query_one(CurvesPage)
        await until(pilot, lambda: page.read)
        await pilot.press("enter", "up")
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        app.desk.close_worker()
    return drawn


SWEEP_GRID = """format = 1
name = "doses"
[[lesions]]
targets = ["attention", "mlp"]
amounts = [0.05, 0.1, 0.2, 0.3, 0.4]
seeds = [1, 2, 3]
controls = true
[[lesions]]
targets = ["attention.q", "attention.k", "attention.v", "attention.o", "mlp.gate", "mlp.up", "mlp.down"]
amounts = [0.5]
layers = ["each"]
seeds = [1]
"""  # noqa: E501
SIZES = (100, 30), (160, 48)


async def sweep(
    size: tuple[int, int], items: int, theme: str, folder: Path
) -> dict[str, tuple[str, int]]:
    """Give 96 conditions to the bundled model; three pages at two sizes as SVG, with the width."""
    memory, store, grid = folder / "memory.json", folder / "store.db", folder / "grid.toml"
    settings.save(settings.Remembered(notice_seen=True, theme=theme), memory)
    grid.write_text(SWEEP_GRID, encoding="utf-8")
    swept = f"lesion sweep tab --model bundled --grid {grid} --limit 2"
    for words in (swept, "run tab --model echo --limit 2"):
        command = [sys.executable, "-m", "tabwb", *words.split(), "--store", str(store)]
        subprocess.run(command, check=True, capture_output=True)
    return {
        f"sweep-{name}-{columns}x{lines}": (drawn, columns)
        for columns, lines in SIZES
        for name, drawn in (await pages_of(store, memory, (columns, lines))).items()
    }


async def pages_of(store: Path, memory: Path, size: tuple[int, int]) -> dict[str, str]:
    """Return the first page, results by model and curves of a store with one sweep."""
    made = {}
    app = make_workbench(location=str(store), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:

        async def keep(name: str) -> None:
            await pilot.pause(1)
            made[name] = app.export_screenshot()

        await until(pilot, lambda: app.desk.catalogue)
        explorer = app.desk.query_one(Explorer)
        explorer.go(next(n for n, row in enumerate(explorer.rows) if isinstance(row, Series)))
        explorer.action_fold()
        n = len(app.desk.catalogue.administrations)
        await until(pilot, lambda: len(explorer._scores) == n)
        await keep("home")
        await pilot.press("m")
        page = app.desk.query_one(ModelsPage)
        await until(pilot, lambda: page.done)
        await pilot.press("end", "enter", "home", "down")
        await keep("by-model")
        await pilot.press("w")
        await until(pilot, lambda: app.desk.query(CurvesPage))
        await until(pilot, lambda: app.desk.query_one(CurvesPage).read)
        await keep("curves")
        app.desk.close_worker()
    return made


async def naming(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Recorded words are named to naming-demo, up to the sixth picture; the screen as SVG."""
    from tests.workbench.naming_seat import PlayedSource

    memory, place = folder / "memory.json", folder / "store.db"
    settings.save(settings.Remembered(notice_seen=True, theme=theme), memory)
    with Store.open(place) as store:
        given = Consent("S-014", "record", True, "2026-11-01")
        scopes = ("record", "transcribe", "rate")
        store.people.keep_consents([replace(given, scope=scope) for scope in scopes])
    sources: list[PlayedSource] = []

    def open_source(path: Path) -> PlayedSource:
        sources.append(PlayedSource(path))
        return sources[-1]

    app = make_workbench(location=str(place), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:
        desk = app.desk
        await until(pilot, lambda: desk.catalogue)
        desk.controller(NamingController).open_source = open_source
        draft = Draft("naming-demo", "speaker", speaker="S-014").filled(rater="R2")
        desk.actions(TrialActions).begin(draft)

        def now() -> NamingNow | None:
            extension = None if desk.work is None else desk.work.extension
            return extension if isinstance(extension, NamingNow) else None

        await until(pilot, now)
        await pilot.press("space")
        await until(pilot, lambda: (shown := now()) and shown.microphone == "open")
        for word, key in SAID:
            await pilot.press("space")
            await until(pilot, lambda: (shown := now()) and shown.waits)
            sources[-1].wait(0.4)
            if word:
                sources[-1].say(word)
            else:
                sources[-1].wait(3.0)
            await pilot.press(*key)
            await until(pilot, lambda: (shown := now()) and shown.score)
        await until(pilot, lambda: (shown := now()) and shown.machine)
        await pilot.pause(0.5)
        drawn = app.export_screenshot()
        desk.close_worker()
    return drawn


FIGURES = {
    "burden": ("--where", "family!=none", "--judge", "tab-2026:judge-a"),
    "items": ("--where", "family!=none", "--width", "double"),
    "accuracy": ("--where", "family!=none", "--width", "double"),
    "profile": ("--where", "family!=none", "--judge", "tab-2026:judge-a"),
    "differences": ("--where", "family!=none", "--judge", "tab-2026:judge-a", "--width", "double"),
    "dose": ("--where", "model=bundled", "--option", "measure=accuracy", "--width", "double"),
    "agreement": ("--where", "tuning=base", "--option", "judges=tab-2026:judge-a,tab-2026:judge-b"),
    "latency": ("--where", "family!=none"),
    "change": ("--where", "participant=S-014"),
    "confusion": ("--where", "participant=S-014"),
}
"""Figure: the options with which it is drawn of the made-up study."""


def figures() -> None:
    """Draw every figure of the made-up study, small, in few colours."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "study.db")
        command = [sys.executable, str(HERE / "study.py"), str(store)]
        subprocess.run(command, check=True)
        for name, options in FIGURES.items():
            drawn, out = Path(folder, f"{name}.png"), HERE / f"figure-{name}.png"
            command = [sys.executable, "-m", "tabwb", "figure", name, *options, "--dpi", "110"]
            command += ["--out", str(drawn), "--store", str(store), "--within-study"]
            subprocess.run(command, check=True)
            with Image.open(drawn) as image:
                image.convert("RGB").quantize(48).save(out, optimize=True)
            print(f"{out}: {out.stat().st_size // 1024} KB")


TEXT = (
    "I was a student and I went to the the school in the city, and the teacher, she was a, a good "
    "one. We did a lot of things there. I liked the thing with the, the blorf, and then I was "
    "working in the in the shop of my uncle for for many years."
)
MARKED = {"d": "blorf,", "e": "lot of things there."}
"""Words of the text that a rater has marked, by the letter of the question."""
WIDTHS = ((390, 844), (820, 1180), (1440, 900))
CLIP = HERE.parents[1] / "tests/data/speech/dog_d1a4fb3f_0.flac"


def rating_page() -> None:
    """Draw a text and a recording on the page of raters."""
    try:
        from playwright.sync_api import Page, sync_playwright
    except ImportError:
        print("rating-page is not drawn: no Playwright (pip install --group browser)")
        return
    from PIL import Image

    from tabwb.host.forms import open_form
    from tabwb.host.plugins import Plugins
    from tabwb.host.settings import Configuration
    from tests.serve.browser import find_chromium
    from tests.serve.page_parts import HEARD, Server, heard_set, recording

    form = open_form("tab-19", Plugins.load(Configuration()).find_battery)

    def text(page: Page) -> None:
        for letter, words in MARKED.items():
            first = len(TEXT[: TEXT.index(words)].split())
            page.evaluate(f"choose({first}, {first + len(words.split()) - 1})")
            page.keyboard.press(letter)
        page.keyboard.press("c")
        page.keyboard.press("-")

    def sound(page: Page) -> None:
        for key in ("1", "Enter"):
            page.keyboard.press(key)
        page.locator("#place", has_text="Sample 2").wait_for()
        page.locator("#time", has_text="1.0 s").wait_for()
        for key in ("ArrowRight", "[", "ArrowRight", "]", "1", "h"):
            page.keyboard.press(key)
        page.keyboard.type("dɔɡ")
        page.keyboard.press("Enter")
        page.locator(".reading", has_text="D AO G").wait_for()

    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        program = ends.enter_context(sync_playwright())
        browser = program.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name, asked, work in (("text", form, text), ("sound", HEARD, sound)):
            server = Server(Path(folder, f"{name}.db"))
            raters = [f"R{number}" for number in range(1, len(WIDTHS) + 1)]
            keys, _ = heard_set(
                server.path, raters, 3, asked, "pilot", text=TEXT * (name == "text"),
                prompt="Tell me about your first job.", target="dog",
                sounds=[recording(1), CLIP.read_bytes(), recording(2)],
            )  # fmt: skip
            server.start()
            ends.callback(server.kill)
            for rater, (width, height) in zip(raters, WIDTHS, strict=True):
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(server.link(keys[rater]))
                page.locator("#work:not([hidden])").wait_for()
                work(page)
                page.locator("#saved", has_text="✓ saved").wait_for()
                out, drawn = HERE / f"rating-page-{name}-{width}.png", Path(folder, "page.png")
                page.screenshot(path=drawn)
                with Image.open(drawn) as image:
                    image.convert("RGB").quantize(32).save(out, optimize=True)
                print(f"{out}: {out.stat().st_size // 1024} KB")


async def rating(size: tuple[int, int], items: int, theme: str, folder: Path) -> str:
    """Rate a response of the bundled model, blind; the screen as SVG."""
    store = str(folder / "store.db")
    for words in ("run tab --model bundled", "rate plan pilot --raters R1,R2 --ask-source"):
        command = [sys.executable, "-m", "tabwb", *words.split(), "--store", store]
        subprocess.run(command, check=True, capture_output=True)
    app = RatingApp(connection(store, "pilot", "R2"), theme=theme)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: getattr(app.screen, "hand", None))
        await pilot.press("Q", "2", "e")
        await pilot.pause(0.5)
        return app.export_screenshot()


PICTURES = {
    "workbench": picture,
    "results-by-model": by_model,
    "laboratory": laboratory,
    "dial": dial,
    "lesion-curves": lesion_curves,
    "sweep": sweep,
    "naming": naming,
    "rating": rating,
}


def answered(app: Workbench, place: int) -> bool:
    """Whether the item at this place has its answer."""
    item = app.desk.work.item if app.desk.work else None
    return item is not None and item.place[0] == place and item.attempt is not None


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Wait for something to come."""
    for _ in range(PATIENCE):
        if condition():
            return
        await pilot.pause(0.05)
    raise SystemExit("the workbench did not get so far")


def main() -> None:
    """Write a picture, or several."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = (*PICTURES, "figures", "rating-page")
    arguments.add_argument("name", nargs="?", choices=names, default="workbench")
    arguments.add_argument("--theme", default="dark")
    arguments.add_argument("--size", default="140x36")
    arguments.add_argument("--items", type=int, default=8)
    given = arguments.parse_args()
    if given.name in {"figures", "rating-page"}:
        figures() if given.name == "figures" else rating_page()
        return
    columns, lines = (int(part) for part in given.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        make = PICTURES[given.name]
        drawn = asyncio.run(make((columns, lines), given.items, given.theme, Path(folder)))
    for name, (svg, wide) in (
        {given.name: (drawn, columns)} if isinstance(drawn, str) else drawn
    ).items():
        write(HERE / f"{name}.png", svg, wide)


def write(out: Path, svg: str, columns: int) -> None:
    """Write a screen as PNG."""
    import resvg_py

    # Fira Code, which Textual names, lacks some of our signs; the web font is not fetched.
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono")
    folders = [folder for folder in FONT_FOLDERS if Path(folder).is_dir()]
    png = resvg_py.svg_to_bytes(
        svg_string=svg, font_dirs=folders, width=columns * PIXELS_PER_COLUMN
    )
    out.write_bytes(bytes(png))
    print(f"{out}: {out.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
