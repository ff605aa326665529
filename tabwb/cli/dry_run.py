"""``tabwb run --dry-run``: every prompt as it would be sent, and what that would take."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

import click

from tabwb.administer.cost import expense_of, forecasts
from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.session.smallest_difference import planned, said, to_json
from tabwb.battery.model import Battery
from tabwb.cli.common import note, print_json, print_messages
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Request
from tabwb.records.states import Protocol


def dry_run(plugins: Plugins, battery: Battery, conditions: Conditions, *, as_json: bool) -> None:
    """Print every prompt and what the run would take; ask nothing."""
    trials = plan_trials(battery, conditions)
    requests = [request_for(battery, conditions, plan) for plan in trials]
    price = None
    expense = without_reasoning = expense_of(requests, None)
    if conditions.kind == "model":
        price = plugins.price(conditions.examinee)
        most = cache(lambda limit: plugins.reply_tokens(conditions.examinee, limit))
        expense = expense_of(requests, price, most)
    reasoning = expense.reply_tokens - without_reasoning.reply_tokens
    later = list(forecasts(plugins, battery, conditions))
    can_show = planned(plugins, battery, conditions)
    if as_json:
        print_json(
            {
                "format": 1,
                "battery": battery.id,
                "battery_version": battery.version,
                "battery_hash": battery.content_hash,
                "examinee": conditions.examinee,
                "estimate": {
                    "requests": expense.requests,
                    "prompt_tokens": expense.prompt_tokens,
                    "reply_tokens_at_most": expense.reply_tokens,
                    "reasoning_tokens_at_most": reasoning,
                    "cost_at_most": expense.cost,
                    "price": None if price is None else str(price),
                },
                "judging": [
                    {
                        "judge": forecast.judge,
                        "responses": forecast.answers,
                        "requests_at_most": forecast.requests,
                        "cost_at_most": forecast.cost,
                    }
                    for forecast in later
                ],
                "smallest_difference": to_json(can_show),
                "prompts": [
                    {
                        "number": plan.number,
                        "subtest": plan.subtest,
                        "item": plan.item,
                        "replicate": plan.replicate,
                        "messages": [asdict(message) for message in request.messages],
                        "max_tokens": request.decoding.max_tokens,
                        "protocol": _protocol(request).value,
                        "options": list(request.options),
                    }
                    for plan, request in zip(trials, requests, strict=True)
                ],
            }
        )
        return
    for plan, request in zip(trials, requests, strict=True):
        click.echo(f"--- {plan.number}/{len(trials)}  {plan.subtest} {plan.item}")
        print_messages(request.messages)
        if words := _held(request):
            click.echo(words)
    if conditions.kind == "model":
        thinks = f" ({reasoning:,} of them added for reasoning)" if reasoning else ""
        cost = "cost unknown" if expense.cost is None else f"{expense.cost:.2g} USD"
        note(
            f"{expense.requests} requests, about {expense.prompt_tokens:,} tokens out and at most "
            f"{expense.reply_tokens:,} back{thinks}: "
            f"at most {cost} ({price or 'no price is known'})"
        )
    for forecast in later:
        note(forecast.line("by itself when everything is answered"))
    for line in said(can_show):
        note(line)


def _protocol(request: Request) -> Protocol:
    return request.protocol if request.options else Protocol.GENERATE


def _held(request: Request) -> str:
    options = " | ".join(request.options)
    if request.protocol is Protocol.GENERATE:
        return ""
    how = {
        Protocol.LIKELIHOOD: f"weighed, not written: {options}",
        Protocol.ENFORCED: f"held to one of: {options}",
        Protocol.GENERATE: "no options: answered freely",
    }
    return f"[protocol {request.protocol.value}]\n{how[_protocol(request)]}"
