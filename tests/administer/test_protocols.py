"""What a back end is told about the answers that are allowed."""

from __future__ import annotations

import pytest

from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.battery.loader import load_battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Request
from tabwb.records.states import Protocol, ResponseKind


def requests_of_tab(protocol: Protocol) -> list[Request]:
    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    plugins.close()
    conditions = Conditions("bundled", "model", protocol=protocol)
    return [request_for(battery, conditions, plan) for plan in plan_trials(battery, conditions)]


@pytest.mark.parametrize("protocol", [Protocol.ENFORCED, Protocol.LIKELIHOOD])
def test_questions_for_yes_or_no_allow_just_these(protocol: Protocol) -> None:
    questions = [one for one in requests_of_tab(protocol) if one.kind is ResponseKind.YES_NO]
    assert len(questions) == 5
    assert {one.options for one in questions} == {("Yes", "No")}


def test_free_answers_show_no_options_that_were_not_shown() -> None:
    for request in requests_of_tab(Protocol.GENERATE):
        assert bool(request.options) == (request.kind is ResponseKind.CHOICE)
