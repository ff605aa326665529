"""What each command says of itself, and what commands that change a store print.

``python -m tests.golden.interfaces [help|work|pages]`` compares with the golden files;
``--write`` writes them anew. Pages are drawings of the workbench: read by people, not by tests,
because a slow machine may draw them before everything is read.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.golden.freeze import HERE, difference, said, unpacked

KINDS = ("help", "work", "pages")
SIZES = ((80, 24), (160, 48))
READING = "… reading"
"""What pages say while responses are read."""
SPEECH = HERE.parent / "data" / "speech"

_VARIES = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DAY"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\([0-9a-f]{8}\)"), "(HASH)"),
    (re.compile(r"[\w-]{40,}"), "KEY"),
    (re.compile(r"\d+(\.\d+)?(?= (s|ms|MB|kB|KiB|MiB|GiB|min)\b)"), "N"),
    (re.compile(r'("(?:\w*seconds\w*|\w*_m?s|load|speed|bytes|size)": )"?[\d.e-]+"?'), r"\1N"),
)
"""What may differ between two runs on one machine: times, random identifiers, hashes of files."""

FILES = {
    "answers.csv": "item,response\nrp1,cat\nrp2,dog\n",
    "grid.toml": 'format = 1\n[[lesions]]\ntargets = ["mlp"]\namounts = [0.1, 0.3]\nseeds = [1]\n',
    "texts.csv": "text,prompt\nThe dog is on the the mat.,Talk.\nHe go home yesterday.,Talk.\n",
    "ratings.csv": "response,rater,measure,value\n3/1,R1,anomia,1\n3/1,R2,anomia,0\n",
}
"""What the commands read."""

ONE = "--limit 1 --no-perplexity"
WORK = f"""
run tab --model echo --dry-run {ONE}
run tab --model echo --dry-run {ONE} --json
run tab --model echo {ONE}
run tab --model echo {ONE} --json --title first --tag a --tag b
run tab --model bundled {ONE} --replicates 2 --protocol enforced --shuffle-options --json
run tab --model bundled {ONE} --lesion mlp:zero:0.2@seed=3 --temperature 0.5 --json
run tab --model bundled {ONE} --prompt-noise words:drop:0.2@seed=3 --system none --judge none
run tab --model bundled --subtest repetition --item rp1 --max-tokens 3 --stop x --json
run tab --model nothing
run tab --model echo --limit 0
run tab --model echo --max-requests 2 --limit 1 --judge none
resume 7 --json
resume 7
run naming-demo --model echo
results 2 --json
results --json
tag 2 --title other --add c --remove b
judge list --json
judge show tab-2026 --json
judge run 1 --judge rules --dry-run
judge run 1 2 --judge rules --json
judge run 1 2 --judge rules --again --repeat 2
judge run 3 --judge tab-2026:echo --repeat 2 --again --json
judge run 3 --judge tab-2026:echo --dry-run
judge run --all --judge rules-1 --scope all
judge run 1 --judge nothing
judge report 3 4 --json
lesion targets --model bundled
lesion plan mlp:zero:0.1@seed=1 --model bundled --json
lesion localize --model bundled --out OUT.json --json
lesion sweep tab --model bundled --grid grid.toml --dry-run {ONE[:9]} --json
lesion sweep tab --model bundled --grid grid.toml {ONE[:9]} --lanes 1 --json
lesion sweep tab --model bundled --grid grid.toml {ONE[:9]} --lanes 1
lesion repeat 5 --json
trial void 1 1 --reason noise
trial note 1 2 'heard a train'
trial undo 1
trial rescore 1
trial void 99 1 --reason none
export 1 --format jsonl --out OUT.jsonl
export 1 --format nothing --out OUT.x
import answers.csv --battery tab --model other --dry-run
import answers.csv --battery tab --model other --json
import answers.csv --battery tab --model other
import texts.csv --speaker S-001 --json
import texts.csv --model other --battery tab
import ratings.csv --set read --json
import missing.csv
rate forms list
rate forms show tab-19 --json
rate plan s1 3 4 5 --raters R1,R2 --dry-run --json
rate plan s1 3 4 5 --raters R1,R2 --json
rate plan s1 3 4 5 --raters R1,R2
rate list --json
rate status s1 --json
rate show s1 --json
rate disputed s1
rate link make s1
rate link list s1
rate link revoke s1
rate close s1 --reason done
rate reopen s1
rate export s1 --out OUT.csv
rate settle read 1 anomia present --reason heard --who R9 --json
agreement s1 --json
agreement read --json
speaker add S-014 AQ=71.3 group=A --json
speaker set S-014 AQ=72 group=
speaker show S-014 --json
speaker consent S-014 --all --given 2026-01-02 --json
speaker consent S-014 --scope share --withdrawn 2026-02-02
speaker list
speaker list --json
speaker columns
speaker log --json
name naming-demo --speaker S-014 --input speech --transcriber none --json
resume 13 --json
trial heard 13 1 bed
trial code 13 1 correct
trial score 13 1 right
trial onset 13 1 0.4
trial history 13 1
results 13 --json
speaker delete S-014 --yes --reason withdrawn --json
transcribe speech --json
transcribe speech --tsv
model list --json
model add quiet echo@delay=0
model test profile:quiet
model remove quiet
battery list
battery list --json
battery show naming-demo
battery new own
battery check own/battery.toml --json
battery copy naming-demo mine
battery pronounce dog flimber --json
key list --json
plugins list
plugins list --json
store info
store info --json
store check --json
store backup OUT.db
store check --store OUT.db
store merge OUT.db
report 1 2 --methods
doctor --json
"""
"""Commands on one store, one after another; OUT names a file that is compared too."""

PAGES = {
    "home": ("models", ""),
    "by-model": ("models", "m"),
    "by-model-detail": ("models", "m;t"),
    "judges": ("models", "m;A"),
    "curves": ("lesions", "m;w"),
    "results": ("models", "down;down;enter"),
    "responses": ("models", "down;down;enter;t"),
    "pairs": ("models", "m;P"),
    "compare": ("models", "m;space;down;space;c"),
    "sets": ("sets", "r"),
    "participants": ("naming", "p"),
    "naming": ("naming", "down;enter"),
    "laboratory": ("models", "b"),
    "sweeps": ("models", "w"),
    "models": ("models", "L"),
    "jobs": ("models", "J"),
    "new": ("models", "n"),
    "import": ("models", "i"),
    "judge-dialog": ("models", "down;down;enter;j"),
    "export-dialog": ("models", "m;e"),
    "keys": ("models", "?"),
    "menu": ("models", "f10"),
}
"""For each page: a store, and the keys that lead there; ``;`` waits until all is read."""


def plain(text: str, folder: Path) -> str:
    """Return an output without what differs between two runs."""
    text = text.replace(str(folder), "FOLDER").replace(str(HERE.parents[1]), "PROJECT")
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


def helps(*words: str) -> Iterator[tuple[str, str]]:
    """Yield the help of a command and of all below it."""
    with tempfile.TemporaryDirectory() as folder:
        text = said([*words, "--help"], 100, Path(folder))
    yield " ".join(words) or "tabwb", text
    for line in text.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines():
        if re.match(r"  \S", line):
            yield from helps(*words, line.split()[0])


def work() -> Iterator[tuple[str, str]]:
    """Yield what each command of :data:`WORK` prints, one after another on one store."""
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), Path.cwd()
        os.environ |= {"TABWB_DATA_DIR": name, "TABWB_CONFIG_DIR": f"{name}/config", "TZ": "UTC"}
        for file, text in FILES.items():
            (folder / file).write_text(text)
        (folder / "speech").mkdir()
        for item in ("bed", "bird", "dog"):
            shutil.copy(next(SPEECH.glob(f"{item}_*")), folder / "speech" / f"{item}.flac")
        os.chdir(folder)
        try:
            for line in WORK.strip().splitlines():
                words = shlex.split(line.replace("OUT", f"{name}/out"))
                text = said(words, 80, folder, written="out*.[jc]s*")
                yield line, plain(text, folder)
        finally:
            os.chdir(before)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the drawing of each page at each size."""
    for name, (store, keys) in PAGES.items():
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                text = asyncio.run(_drawn(unpacked(store, Path(folder)), keys, size))
                yield f"{name}.{size[0]}", plain(text, Path(folder))


async def _drawn(store: Path, keys: str, size: tuple[int, int]) -> str:
    from tabwb.workbench.app import make_workbench
    from tabwb.workbench.shell import settings

    memory = store.with_suffix(".memory")
    settings.save(settings.Remembered(notice_seen=True), memory)
    app = make_workbench(location=str(store), offline=True, memory=memory)
    async with app.run_test(size=size) as pilot:

        def now() -> str:
            return "\n".join(
                "".join(segment.text for segment in strip).rstrip()
                for strip in app.screen._compositor.render_strips()
            )

        async def still() -> None:
            before, equal = "", 0
            while equal < 8:
                await pilot.pause(0.1)
                # What is being read may show nothing new for longer than that.
                kept = now() == before and READING not in before
                before, equal = now(), equal + 1 if kept else 0

        while not app.desk.catalogue:
            await pilot.pause(0.05)
        for step in keys.split(";"):
            await still()
            if step:
                await pilot.press(step)
        await still()
        drawn = now()
        app.desk.close_worker()
    return drawn


def outputs(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the present outputs of a kind by name."""
    yield from {"help": helps, "work": work, "pages": pages}[kind]()


if __name__ == "__main__":
    asked = [word for word in sys.argv[1:] if word != "--write"] or list(KINDS)
    differ = 0
    for one in asked:
        if "--write" in sys.argv:
            texts = json.dumps(dict(outputs(one)), ensure_ascii=False, indent=0)
            place = HERE / "outputs" / f"{one}.json.xz"
            place.write_bytes(lzma.compress(texts.encode(), preset=9))
            continue
        for name, text in outputs(one):
            if shown := difference(one, name, text):
                differ += 1
                print(shown)
    sys.exit(bool(differ))
