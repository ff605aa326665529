"""Consents are asked for before each act with a person's data, and acts are in the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer import consent
from tabwb.administer.consent import ASKED, WIDTH, consent_form
from tabwb.administer.cost import Limits
from tabwb.administer.judging import Judging
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.conditions import Conditions
from tabwb.records.errors import NoConsent, StoreError
from tabwb.records.speakers import SCOPES, Consent, LogEntry, Scope, Speaker, Study
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store

FAR = "tab-2026:openai:gpt-4o-mini@base_url=https://api.example.org/v1"
PERSON = Conditions("S-014", "speaker", judges=(), research_protocol="IRB-7")


@pytest.fixture
def plugins() -> Iterator[Plugins]:
    # Allowed to reach a service, which no test here does.
    loaded = Plugins.load(Configuration())
    yield loaded
    loaded.close()


@pytest.fixture
def tab(plugins: Plugins) -> Battery:
    return setup.find_battery(plugins, "tab")


@pytest.fixture
def begun(store: Store, plugins: Plugins, tab: Battery) -> Callable[[Conditions], int]:
    def begin(conditions: Conditions) -> int:
        with setup.create(store, plugins, tab, conditions) as session:
            return session.administration.id

    return begin


def agree(store: Store, *scopes: Scope, speaker: str = "S-014", given: bool = True) -> None:
    store.people.keep_consents([Consent(speaker, scope, given, "2026-11-21") for scope in scopes])


def acts(store: Store) -> list[tuple[str, str]]:
    return [
        (entry.act, entry.detail) for entry in store.people.log_entries() if entry.administration
    ]


def test_a_beginning_is_in_the_log_for_people_only(
    store: Store, begun: Callable[[Conditions], int]
) -> None:
    number = begun(PERSON)
    begun(Conditions("echo", "model", judges=()))
    (entry,) = store.people.log_entries()
    assert (entry.act, entry.speaker, entry.administration) == ("recorded", "S-014", number)
    assert entry.detail == "tab"


def test_an_import_is_logged_as_one(store: Store, begun: Callable[[Conditions], int]) -> None:
    begun(replace(PERSON, origin="unknown"))
    begun(replace(PERSON, examinee="tts-3", origin="model"))
    assert acts(store) == [("imported", "tab")]


def test_somebody_unregistered_may_type_and_there_is_a_notice(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    assert begun(PERSON)
    (told,) = consent.Guard(store, plugins, PERSON).notices()
    assert "no consent of speaker S-014" in told
    people = [replace(PERSON, examinee=f"S-0{n}") for n in (14, 15, 16, 15)]
    (alike,) = consent.Guard.notices_of(consent.Guard(store, plugins, one) for one in people)
    assert alike == f"{told}; the same of 2 more: S-015, S-016"
    agree(store, "record")
    assert consent.Guard(store, plugins, PERSON).notices() == ()
    assert consent.Guard(store, plugins, Conditions("echo", "model")).notices() == ()


def test_an_id_of_another_shape_is_remarked_on(store: Store, plugins: Plugins) -> None:
    odd, _ = consent.Guard(store, plugins, replace(PERSON, examinee="Jane")).notices()
    assert "'Jane' does not have the form of this study's participant codes" in odd


def test_a_study_can_require_consent_of_everybody(store: Store, tab: Battery) -> None:
    strict = Plugins.load(Configuration(study=Study(require_consent=True)))
    with pytest.raises(NoConsent, match="'record'"):
        setup.create(store, strict, tab, PERSON)
    strict.close()


def test_after_a_withdrawal_nothing_goes_on(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    agree(store, "record")
    number = begun(PERSON)
    with setup.resume(store, plugins, number) as session:
        session.pause("a break")
    agree(store, "record", given=False)
    with setup.resume(store, plugins, number) as session:
        with pytest.raises(NoConsent, match="withdrew"):
            session.resume()
        assert session.status is AdministrationStatus.PAUSED


def test_a_deleted_speaker_is_given_nothing(
    store: Store, begun: Callable[[Conditions], int]
) -> None:
    begun(PERSON)
    store.people.delete_speaker("S-014", "withdrawn")
    with pytest.raises(StoreError, match="was deleted on"):
        begun(PERSON)


def logged(store: Store, plugins: Plugins, conditions: Conditions, judge: str) -> list[str]:
    """The acts that are logged when the judge reads the first answer."""
    entries = consent.Guard(store, plugins, conditions).check_judging(plugins.judge(judge))
    return [entry.act for entry in entries]


@pytest.mark.parametrize("origin", ["human", "unknown"])
def test_nothing_that_may_be_a_persons_goes_to_a_service_without_remote(
    store: Store, plugins: Plugins, tab: Battery, begun: Callable[[Conditions], int], origin: str
) -> None:
    theirs = Conditions("S-014", "model", judges=(), origin=origin)  # type: ignore[arg-type]
    number = begun(theirs)
    judge = plugins.judge(FAR)
    with pytest.raises(NoConsent, match="'remote'"):
        Judging(store, plugins, tab, number, judge)
    # Rated by a model as well, once more of the speaker is known.
    agree(store, "record", "remote")
    with pytest.raises(NoConsent, match="'rate'"):
        Judging(store, plugins, tab, number, judge)
    agree(store, "rate")
    assert Judging(store, plugins, tab, number, judge).estimate().to_ask == 0
    assert logged(store, plugins, theirs, FAR) == ["rated", "sent"]


def test_what_a_model_wrote_goes_anywhere(
    store: Store, plugins: Plugins, tab: Battery, begun: Callable[[Conditions], int]
) -> None:
    model = Conditions("echo", "model", judges=())
    number = begun(model)
    assert Judging(store, plugins, tab, number, plugins.judge(FAR)).number == number
    assert logged(store, plugins, model, FAR) == []


def test_a_service_named_at_the_beginning_is_refused_at_the_beginning(
    store: Store, begun: Callable[[Conditions], int]
) -> None:
    with pytest.raises(NoConsent, match="'remote'"):
        begun(replace(PERSON, judges=(FAR,)))
    assert store.administrations() == ()


def test_what_is_sent_is_in_the_log_before_it_is_sent(
    store: Store, plugins: Plugins, tab: Battery
) -> None:
    agree(store, "record", "rate", "remote")
    with setup.create(store, plugins, tab, PERSON) as session:
        _answer_all(session)
        number = session.administration.id
    judging = Judging(store, plugins, tab, number, plugins.judge(FAR))
    judging.estimate()
    assert acts(store) == [("recorded", "tab")], "an estimate sends nothing"
    working = judging.run(Limits(requests=1), threading.Event())
    with pytest.raises(Exception, match="limit"):
        list(working)
    assert acts(store)[1:] == [("rated", judging.judge.rater), ("sent", judging.judge.rater)]


def test_rules_rate_as_scorers_do(
    store: Store, plugins: Plugins, tab: Battery, begun: Callable[[Conditions], int]
) -> None:
    agree(store, "record")
    person = replace(PERSON, judges=("rules-2",))
    number = begun(person)
    assert Judging(store, plugins, tab, number, plugins.judge("rules")).number == number
    assert logged(store, plugins, person, "rules") == ["rated"]


def _answer_all(session: Session) -> None:
    while session.next() and session.awaiting:
        session.answer("I um went to the store.")


def test_an_export_names_all_who_have_not_agreed(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    for speaker in ("S-014", "S-015", "S-016"):
        agree(store, "record", speaker=speaker)
        begun(replace(PERSON, examinee=speaker))
    begun(Conditions("echo", "model", judges=()))
    agree(store, "share", speaker="S-015")
    every = store.administrations()
    with pytest.raises(NoConsent, match=r"S-014, S-016") as refused:
        consent.check_export(store, plugins, every, "jsonl", Path("out.jsonl"))
    assert "--within-study" in str(refused.value)
    inside = consent.check_export(store, plugins, every, "csv", Path("o.csv"), within_study=True)
    assert [entry.speaker for entry in inside.acts] == ["S-014", "S-015", "S-016"]
    assert {entry.detail for entry in inside.acts} == {"csv, within the study: o.csv"}
    shared = consent.check_export(store, plugins, every[1:2], "jsonl", Path("o"))
    entry = LogEntry("exported", "S-015", every[1].id, "jsonl, shared: o")
    assert shared == consent.Permit((entry,))


def test_what_somebody_unregistered_said_stays_within_the_study(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    number = begun(PERSON)
    permit = consent.check_export(store, plugins, store.administrations(), "csv", Path("o"))
    assert permit.acts == (LogEntry("exported", "S-014", number, "csv, within the study: o"),)
    assert "S-014: no consent to sharing" in permit.notice


def test_models_are_exported_freely(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    begun(Conditions("echo", "model", judges=()))
    permit = consent.check_export(store, plugins, store.administrations(), "csv", Path("o"))
    assert permit == consent.Permit()


def test_rules_know_the_recorded_dialect(store: Store, plugins: Plugins, tab: Battery) -> None:
    agree(store, "record")
    store.people.keep_speaker(Speaker("S-014", {"dialect": "African American English"}))
    with setup.create(store, plugins, tab, replace(PERSON, judges=("rules-2",))) as session:
        _answer_all(session)
        reasons = {
            rating.reason
            for trial in session.trials
            for rating in trial.ratings
            if rating.measure == "omission-of-bound-morphemes"
        }
    assert any("African American English" in reason for reason in reasons)


def test_a_store_elsewhere_needs_remote_of_everybody(
    store: Store, begun: Callable[[Conditions], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "elsewhere", "db.example.org")
    with pytest.raises(
        NoConsent, match=r"not consented to sending data.*db\.example\.org"
    ) as refused:
        begun(PERSON)
    assert "--store PATH" in str(refused.value)
    assert store.administrations() == ()
    agree(store, "record", "remote")
    assert begun(PERSON) == 1
    begun(Conditions("echo", "model", judges=()))


def test_a_notice_says_that_data_stay_here_only_where_they_do(
    store: Store, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any("stays on this computer" in each for each in notices(store, plugins))
    monkeypatch.setattr(Store, "elsewhere", "db.example.org")
    assert not any("stays on this computer" in each for each in notices(store, plugins))


def notices(store: Store, plugins: Plugins) -> tuple[str, ...]:
    return consent.Guard(store, plugins, PERSON).notices()


@pytest.mark.parametrize("within_study", [True, False])
def test_an_export_after_a_withdrawal_says_so_with_its_day(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int], *, within_study: bool
) -> None:
    agree(store, "record", "share")
    begun(PERSON)

    def notice() -> str:
        given = store.administrations()
        return consent.check_export(
            store, plugins, given, "csv", Path("o.csv"), within_study=within_study
        ).notice

    assert notice() == ""
    store.people.keep_consents([Consent("S-014", "record", False, "2026-11-20")])
    assert "'record' was withdrawn by S-014 (on 2026-11-20)" in notice()
    agree(store, "record")
    assert notice() == ""


def test_within_the_study_a_withdrawn_share_is_said(
    store: Store, plugins: Plugins, begun: Callable[[Conditions], int]
) -> None:
    agree(store, "record", "share")
    begun(PERSON)
    agree(store, "share", given=False)
    given = store.administrations()
    inside = consent.check_export(store, plugins, given, "csv", Path("o"), within_study=True)
    assert "scope 'share'" in inside.notice
    assert "scope 'record'" not in inside.notice


def test_the_form_asks_for_every_scope_by_itself() -> None:
    text = consent_form("S-014")
    assert list(ASKED) == list(SCOPES)
    assert "Participant code: S-014" in text
    assert text.count("[ ] yes    [ ] no") == len(SCOPES)
    assert all(f"({scope})" in text and ASKED[scope][1] in text for scope in SCOPES)
    assert max(map(len, text.splitlines())) <= WIDTH + 4
    assert "ethics committee" in text
