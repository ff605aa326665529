"""What the page of a rater sends is stored as the keys of the rating screen are, and as often."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.administer.rating.access import digest
from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.battery.forms import Form
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import CANNOT_TELL, Assignment, Sample, SetEvent
from tabwb.records.speakers import Consent, Scope
from tabwb.records.trials import AttemptEntry
from tabwb.serve import seats as seats_module
from tabwb.serve import server as server_module
from tabwb.serve.admission import Guest
from tabwb.serve.seats import Opened, Seat, read_said
from tabwb.store.store import Store
from tests.serve.page_parts import heard_set, recording
from tests.serve.running import Browser, Links, running
from tests.store.parts import attempt, planned, set_plan, small_battery
from tests.workbench.rating_parts import FEATURES, SECRETS, SPOKEN, secret_set


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Refuse at once, and confirm at once."""
    with (
        patch.object(server_module, "REFUSED_S", 0.0),
        patch("tabwb.administer.rating.session.CONFIRM_S", 0.0),
    ):
        yield


class Page:
    """The page of one rater: it knows its ticket, and what it was shown last."""

    def __init__(self, browser: Browser, key: str) -> None:
        self.browser, self.key = browser, key
        self.ticket = ""
        self.view: dict[str, Any] = {}
        self.form: dict[str, Any] = {}

    async def open(self) -> None:
        self.ticket = (await (await self.browser.send(self.key)).json())["ticket"]
        await self.ask("view")

    async def ask(self, what: str, status: int = 200, **more: Any) -> dict[str, Any]:
        named = {"place": self.view.get("place", 0), "version": self.view.get("version", 0)} | more
        reply = await self.browser.ask(self.ticket, what, **named)
        assert reply.status == status, await reply.text()
        told: dict[str, Any] = await reply.json() if status in (200, 422, 503) else {}
        self.view = told.get("view", self.view)
        self.view["version"] = told.get("version", self.view.get("version", 0))
        self.form = told.get("form", self.form)
        return told

    async def keep(self, answers: dict[str, Any], **more: Any) -> dict[str, Any]:
        return await self.ask("keep", draft={"answers": answers, **more.pop("also", {})}, **more)

    async def finish(self, answers: dict[str, Any], **more: Any) -> dict[str, Any]:
        draft = {"answers": answers, **more.pop("also", {})}
        told = await self.ask("finish", draft=draft, **more)
        if told["view"]["asked"]:
            told = await self.ask("finish", draft=draft, confirms=True, **more)
        return told


Visit = Callable[..., Any]


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    """Return what serves a store with the set ``pilot``, whose pages of raters it gives."""
    links, plugins = Links(), Plugins.load(Configuration())
    keys = {rater: links.add(rater) for rater in ("R1", "R-other")}

    @asynccontextmanager
    async def visited(
        form: Form = FEATURES, *, here: bool = True, **more: Any
    ) -> AsyncIterator[dict[str, Page]]:
        path = tmp_path / "s.db"
        if not path.exists():
            secret_set(path, form, ask_source=False)
        with Store.open(path) as store:

            def opens(guest: Guest) -> Opened:
                work = RaterSession.open(store, plugins, 1, guest.link.rater)
                return work, tmp_path / "work", here

            async with running(links, opens=opens, **more) as browser:
                yield {rater: Page(browser, key) for rater, key in keys.items()}

    return visited


def kept(path: Path, rater: str = "R1") -> list[tuple[int, bool, dict[str, Any]]]:
    with Store.open(path / "s.db") as store:
        rows = store.sets.ratings(1, rater, every=True)
        return [(row.position, row.complete, dict(row.answers)) for row in rows]


async def test_a_page_rates_a_set_and_the_store_has_what_was_sent(
    visit: Visit, tmp_path: Path
) -> None:
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        assert [one["key"] for one in page.form["questions"]] == ["a", "n"]
        assert (page.view["words"], page.view["learning"]) == (["text", "1"] * 9, True)
        assert page.view["answers"] == {}
        await page.keep({"anomia": 1}, also={"evidence": {"anomia": [2, 3]}})
        await page.finish({"anomia": 1})
        assert (page.view["phase"], page.view["right"]["jargon"]) == ("feedback", 0.0)
        await page.ask("go-on")
        asked = (await page.ask("finish", draft={"answers": {}}))["view"]["asked"]
        assert asked == "nothing answered. Next again: 2 features absent"
        await page.finish({"anomia": CANNOT_TELL, "jargon": 0})
        await page.keep({"jargon": 1}, seconds=12.5)
        version = page.view["version"]
        for _ in range(2):  # the reply was lost
            await page.ask("undo", place=3, version=version)
            assert (page.view["place"], page.view["answers"]) == (3, {})
        marked = {"evidence": {"jargon": [0, 1, 3]}, "note": " a\x1b[31m\nb "}
        await page.finish({"jargon": 1}, seconds=99.0, also=marked)
        assert (page.view["phase"], page.view["done"]) == ("over", 3)
        await page.ask("back")
        assert (page.view["place"], page.view["confirmed"]) == (3, ["anomia"])
    done = [row for row in kept(tmp_path) if row[1]]
    assert done == [
        (1, True, {"anomia": 1.0, "jargon": 0.0}),
        (2, True, {"anomia": CANNOT_TELL, "jargon": 0.0}),
        (3, True, {"anomia": 0.0, "jargon": 1.0}),
    ]
    with Store.open(tmp_path / "s.db") as store:
        rows = store.sets.ratings(1, "R1", every=True)
        assert [row.evidence for row in rows if row.position == 1] == [{"anomia": (2, 3)}, {}]
        assert [row.seconds for row in rows if row.position == 3][:1] == [12.5]
        assert rows[-1].note == "a[31m b"
        assert rows[-1].evidence == {"jargon": (0, 1, 3)}
        assert rows[-1].confirmed == ("anomia",)


async def test_what_is_repeated_is_stored_once_and_what_was_changed_elsewhere_counts(
    visit: Visit, tmp_path: Path
) -> None:
    async with visit() as pages:
        page, other = pages["R1"], Page(pages["R1"].browser, pages["R1"].key)
        await page.open()
        for _ in range(3):  # the replies were lost
            await page.keep({"anomia": 1}, version=0)
        assert len(kept(tmp_path)) == 1
        await page.ask("finish", draft={"answers": {"anomia": 1}})
        again = await page.ask(
            "finish", draft={"answers": {"anomia": 1}}
        )  # repeated, not confirmed
        assert (again["view"]["phase"], len(kept(tmp_path))) == ("rate", 1)
        old = page.view["version"]
        await other.open()  # the same rater in another window
        await other.keep({"anomia": 0})
        assert (await page.browser.ask(page.ticket)).status == 404
        await page.open()
        told = await page.keep({"anomia": 1, "jargon": 1}, version=old)
        assert (told["conflict"], told["view"]["answers"]) == (True, {"anomia": 0.0})
        with Store.open(tmp_path / "s.db") as store:  # another program
            row = store.sets.ratings(1, "R1", every=True)[-1]
            store.sets.rate(1, replace(row, answers={"jargon": 0.0}, replaces=row.id))
        await page.ask("keep", 404, draft={"answers": {"anomia": 1}})
        await page.open()
        assert page.view["answers"] == {"jargon": 0.0}
        await page.finish({"anomia": 0.0})
        await page.ask("finish", place=1, draft={"answers": {"anomia": 0.0}}, confirms=True)
        assert page.view["phase"] == "feedback"
        told = await page.keep({"anomia": 1}, place=1)
        assert told["conflict"]
        assert len(kept(tmp_path)) == 4


async def test_a_server_that_is_started_again_goes_on_where_it_was(
    visit: Visit, tmp_path: Path
) -> None:
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        await page.keep({"jargon": 1}, seconds=3.0)
    async with visit() as pages:
        again = pages["R1"]
        assert (await again.browser.ask(page.ticket)).status == 404
        again.ticket = (await (await again.browser.send(again.key)).json())["ticket"]
        again.view = page.view
        await again.keep({"jargon": 1, "anomia": 0}, seconds=5.0)
        await again.keep({"jargon": 1, "anomia": 0}, version=page.view["version"])
    assert kept(tmp_path) == [(1, False, {"jargon": 1.0}),
                              (1, False, {"jargon": 1.0, "anomia": 0.0})]  # fmt: skip
    with Store.open(tmp_path / "s.db") as store:  # seconds of both visits, none of them twice
        assert [row.seconds for row in store.sets.ratings(1, "R1", every=True)] == [3.0, 5.0]


async def test_nothing_that_a_page_gets_tells_the_source(visit: Visit) -> None:
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        told = [page.view, page.form]
        await page.finish({"anomia": 1})
        told += [page.view, await page.ask("go-on"), await page.ask("guidelines")]
        told += [await page.ask("phonemes", text="dɔɡ"), await page.ask("back")]
        text = json.dumps(told).replace('", "', " ")  # words in one line
        assert "text 2" in text
        assert [secret for secret in SECRETS if secret in text] == []


async def test_hostile_requests_store_nothing_and_tell_nothing(
    visit: Visit, tmp_path: Path
) -> None:
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        url, session = f"{page.browser.url}/rating", page.browser.session
        good = {"ticket": page.ticket, "what": "keep", "place": 1, "version": 0}
        wrong: list[object] = [
            "", "[", [], {**good, "rater": "R-other"}, {**good, "place": -1},
            {**good, "place": "1"}, {**good, "seconds": 1e9}, {**good, "what": "close"},
            {**good, "draft": {"answers": {"anomia": [1]}}}, {**good, "draft": {"answers": None}},
            {**good, "draft": {"answers": {"anomia": 1}, "confidence": 4}},
            {**good, "draft": {"answers": {"anomia": 1}, "evidence": {"anomia": [-1]}}},
            {**good, "draft": {"answers": {"anomia": "x" * 3000}}},
            {**good, "text": "x" * 70_000},
        ]  # fmt: skip
        own = {"Origin": page.browser.url}
        for body in wrong:
            data = body if isinstance(body, str) else json.dumps(body)
            assert (await session.post(url, data=data, headers=own)).status == 404, body
        nan = json.dumps(good)[:-1] + ', "seconds": NaN}'
        assert (await session.post(url, data=nan, headers=own)).status == 404
        good["draft"] = {"answers": {"anomia": 1}}
        for origin in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
            assert (await session.post(url, json=good, headers=origin)).status == 404
        assert (await session.get(url)).status == 404
        for answers in ({"anomia": 7}, {"nothing": 1}, {"#evidence": 1}, {"anomia#2": 1}):
            await page.ask("keep", 422, draft={"answers": answers})
        marked = {"answers": {"anomia": 1}, "evidence": {"anomia": [9999]}}
        assert "has 18" in (await page.ask("keep", 422, draft=marked))["words"]
        told = await page.ask("keep", place=7, draft={"answers": {"anomia": 1}})
        assert told["conflict"]
    assert kept(tmp_path) == []


async def test_a_rater_who_asks_too_much_at_once_is_told_to_wait(visit: Visit) -> None:
    async with visit() as pages:
        page, other = pages.values()
        await page.open()
        many = [page.browser.ask(page.ticket) for _ in range(30)]
        statuses = {reply.status for reply in await asyncio.gather(*many)}
        assert statuses == {200, 429}
        await other.open()


async def test_a_seat_ends_with_its_link_when_nobody_uses_it_and_for_a_terminal(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "WATCH_S", 0.02)

    async def left(page: Page) -> None:
        async with asyncio.timeout(20):
            while page.browser.server.seats.guests:
                await asyncio.sleep(0.01)

    async with visit(most=1) as pages:
        page, other = pages["R1"], pages["R-other"]
        await page.open()
        assert (await other.browser.send(other.key)).status == 503  # one place, and it is taken
        screen = await page.browser.enter(page.key)
        assert page.browser.server.seats.guests == {}
        await page.open()  # and the page again closes the terminal
        await screen.closed()
        with monkeypatch.context() as soon:
            soon.setattr(seats_module, "IDLE_S", 0.0)
            await left(page)
        await page.open()
        page.browser.links.revoke(page.key)
        await left(page)
        assert (await page.browser.ask(page.ticket)).status == 404


async def test_phonemes_are_read_as_on_the_rating_screen(visit: Visit, tmp_path: Path) -> None:
    async with visit(SPOKEN) as pages:
        page = pages["R1"]
        await page.open()
        assert ["D", "d"] in page.form["phonemes"]["stops"]
        assert (await page.ask("phonemes", text="D XX G"))["wrong"] == [2, 2]
        assert (await page.ask("phonemes", text="dɔɡ"))["reading"] == "D AO G   dɔɡ"
        await page.ask("keep", 422, draft={"answers": {"heard#1": "XX"}})
        await page.finish({"correct": "right", "heard#1": "dɔɡ"})
    assert kept(tmp_path)[-1] == (1, True, {"correct": "right", "heard#1": "D AO G"})


async def test_a_recording_is_sent_in_ranges_and_only_while_its_sample_is_shown(
    visit: Visit, tmp_path: Path
) -> None:
    whole = recording(3, subtype="PCM_24")
    _, sounds = heard_set(tmp_path / "s.db", ("R1",), 2, sounds=[recording(1), whole])
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        get = page.browser.session.get

        async def sound(**headers: str) -> tuple[int, bytes, Any]:
            reply = await get(f"{page.browser.url}/{page.view['sound']}", headers=headers)
            return reply.status, await reply.read(), reply.headers

        status, cut, headers = await sound()
        assert (status, headers["Cache-Control"], headers["Content-Type"]) == (
            200, "no-store", "audio/wav",
        )  # fmt: skip
        assert not {"ETag", "Last-Modified"} & headers.keys()  # when it was recorded
        for name in ("If-Modified-Since", "if-range", "If-Unmodified-Since"):
            since = {name: "Thu, 01 Jan 1970 00:00:00 GMT", "Range": "bytes=0-1"}
            assert (await sound(**since))[0] == 404
        stored, _ = soundfile.read(io.BytesIO(sounds[0]), dtype="int16")
        heard, rate = soundfile.read(io.BytesIO(cut), dtype="int16")
        assert (heard.tolist(), rate) == (stored[8_000:20_000].tolist(), 16_000)
        assert (page.view["seconds"], max(page.view["peaks"])) == (0.75, 97)
        assert (await sound(Range="bytes=44-99"))[:2] == (206, cut[44:100])
        assert (await sound(Range="bytes=-10"))[:2] == (206, cut[-10:])
        assert (await sound(Range=f"bytes={len(cut)}-"))[0] == 416
        before = page.view["sound"]
        await page.finish({"correct": "right"})
        assert (await sound())[:2] == (200, whole)
        for old in (before, "shown/x", "shown/..%2fs.db"):
            assert (await get(f"{page.browser.url}/{old}")).status == 404
    assert not [path for path in (tmp_path / "work").rglob("*") if path.suffix == ".wav"]


@pytest.mark.parametrize("data, kind", [(b"\x89PNG....", "image/png"), (b"<svg/>", "")])
async def test_a_picture_is_sent_if_it_is_one_that_browsers_only_draw(
    visit: Visit, tmp_path: Path, data: bytes, kind: str
) -> None:
    battery = small_battery(assets={"house": data})
    form = replace(FEATURES, shows=("picture",))
    with Store.open(tmp_path / "s.db") as store:
        store.keep_battery(battery, {"house": data})
        given = store.create_administration(battery, Conditions("echo", "model"), planned(1), {})
        store.append(given.id, [AttemptEntry(1, attempt())])
        sample = Sample(1, given.id, 1, 1, "", "", picture="house")
        assigned = [Assignment("R1", 1, 1)]
        store.sets.create(set_plan("pictures", form.canonical, "f", [sample], assigned))
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        assert (page.view["picture"] is None) is (kind == "")
        if kind:
            reply = await page.browser.session.get(f"{page.browser.url}/{page.view['picture']}")
            assert (await reply.read(), reply.content_type) == (data, kind)


async def test_nothing_of_a_speaker_is_sent_elsewhere_without_consent(
    visit: Visit, tmp_path: Path
) -> None:
    heard_set(tmp_path / "s.db", ("R1",), 1, examinee=Conditions("S-001", "speaker"))
    async with visit(here=False) as pages:
        page = pages["R1"]
        page.ticket = (await (await page.browser.send(page.key)).json())["ticket"]
        told = await page.ask("view", 503)
        assert "view" not in told
    async with visit() as pages:
        await pages["R1"].open()


async def test_a_recording_is_not_sent_elsewhere_after_its_speaker_withdrew(
    visit: Visit, tmp_path: Path
) -> None:
    heard_set(tmp_path / "s.db", ("R1",), 1, examinee=Conditions("S-001", "speaker"))

    def agrees(given: bool, *scopes: Scope) -> None:
        with Store.open(tmp_path / "s.db") as store:
            store.people.keep_consents(
                [Consent("S-001", scope, given, "2026-11-01") for scope in scopes]
            )

    agrees(True, "record", "rate", "remote")
    async with visit(here=False) as pages:
        page = pages["R1"]
        await page.open()
        address = f"{page.browser.url}/{page.view['sound']}"
        assert (await page.browser.session.get(address)).status == 200
        agrees(False, "remote")  # the page stays open
        assert (await page.browser.session.get(address)).status == 503


async def test_nothing_of_a_set_is_shown_after_it_was_closed(visit: Visit, tmp_path: Path) -> None:
    heard_set(tmp_path / "s.db", ("R1",), 2)
    async with visit() as pages:
        page = pages["R1"]
        await page.open()
        with Store.open(tmp_path / "s.db") as store:
            store.sets.log(1, SetEvent("closed"))
        page.browser.links.closed = True
        for what in ("view", "back", "finish"):
            assert await page.ask(what, 410) == {}
        address = f"{page.browser.url}/{page.view['sound']}"
        assert (await page.browser.session.get(address)).status == 503


def test_a_long_text_can_be_marked_as_a_whole() -> None:
    marked = ", ".join(map(str, range(9000)))
    said = read_said(
        f'{{"ticket": "x", "what": "keep", "draft": {{"answers": {{"anomia": 1}}, '
        f'"evidence": {{"anomia": [{marked}]}}}}}}'.encode()
    )
    assert said is not None
    assert said.draft is not None
    assert len(said.draft.draft(FEATURES).evidence["anomia"]) == 9000


Words = dict[str, Any]
MARKS = st.dictionaries(
    st.sampled_from(["anomia", "jargon"]), st.sets(st.integers(0, 17), max_size=3).map(sorted)
)
ANSWERS = st.fixed_dictionaries(
    {}, optional={"anomia": st.sampled_from([0, 1, CANNOT_TELL]), "jargon": st.sampled_from([0, 1])}
)
DRAFTS = st.fixed_dictionaries({"answers": ANSWERS, "evidence": MARKS})
ACTS = st.tuples(DRAFTS | st.sampled_from(["finish", "undo", "undo", "back"]), st.booleans())


class Rated:
    """What a rater has said of three samples, as lists: what any requests must come to."""

    def __init__(self) -> None:
        self.at: int | None = 0
        self.said, self.done = [Draft()] * 3, [False] * 3
        self.before: list[Draft] = []
        self.finished: list[int] = []

    def do(self, act: Words | str) -> None:
        at = 3 if self.at is None else self.at
        if act == "back" and at:
            self.show(at - 1)
        elif act == "undo" and self.before:
            self.said[at], self.done[at] = self.before.pop(), False
        elif act == "undo" and self.finished:
            self.show(self.finished.pop())
            self.done[self.at or 0] = False
        elif act == "finish":
            self.finished += [at] * (not self.done[at])
            self.done[at] = True
            order = (*range(at + 1, 3), *range(at + 1))
            self.show(next((one for one in order if not self.done[one]), None))
        elif isinstance(act, dict) and (draft := drafted(act)) != self.said[at]:
            self.before.append(self.said[at])
            self.said[at], self.done[at] = draft, False

    def show(self, at: int | None) -> None:
        self.at, self.before = at, []


def drafted(said: Words) -> Draft:
    marked = {key: tuple(words) for key, words in said["evidence"].items()}
    return Draft(said["answers"], evidence=marked)


@pytest.fixture(scope="module")
def set_of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("three") / "s.db"
    secret_set(path, replace(FEATURES, title="Without calibration"), ask_source=False)
    return path


@settings(max_examples=30, deadline=None)
@given(acts=st.lists(ACTS, max_size=10))
def test_answers_in_any_order_come_to_what_lists_of_them_say(
    set_of_three: Path, acts: list[tuple[Words | str, bool]]
) -> None:
    expected = Rated()
    with TemporaryDirectory() as folder, Store.open(copy(set_of_three, folder)) as store:
        work = RaterSession.open(store, Plugins.load(Configuration()), 1, "R1")
        links = Links()
        link = links.of(digest(links.add("R1")))
        assert link is not None
        seat = Seat(Guest(link), "", (work, Path(folder), True))
        view: Words = {"place": 0, "version": 0}

        def ask(what: str, times: int = 1, **more: Any) -> None:
            facts = {"ticket": "", "what": what, "place": view["place"]}
            said = read_said(json.dumps(facts | {"version": view["version"]} | more).encode())
            assert said is not None
            for _ in range(times):
                told = seat.answer(said)
            view.update(told.get("view", told))

        ask("view")
        for act, is_lost in acts:  # of lost replies the request is sent again
            if expected.at is None and act not in ("undo", "back"):
                continue
            expected.do(act)
            own = {name: view[name] for name in ("answers", "evidence")}
            if isinstance(act, dict):
                ask("keep", 1 + is_lost, draft=act)
                ask("view")
            else:
                ask(act, 1 + is_lost, draft=own if act == "finish" else None)
            if view["asked"]:
                ask("finish", 1 + is_lost, draft=own, confirms=True)
            assert view["place"] == (0 if expected.at is None else expected.at + 1)
            if expected.at is not None:
                assert drafted(view) == expected.said[expected.at]
        seat.close()
        last = {row.position: row for row in store.sets.ratings(1, "R1", every=True)}
    for number, (draft, is_done) in enumerate(zip(expected.said, expected.done, strict=True), 1):
        row = last.get(number)
        assert (row is not None and row.complete) == is_done
        assert (dict(row.evidence) if row else {}) == draft.evidence
        assert draft.answers.items() <= (row.answers if row else {}).items()
