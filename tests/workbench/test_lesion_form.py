"""The form of a lesion begins with a target that the model has, until the user chooses one."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Input

from tabwb.lesion.declared import Part
from tabwb.workbench.lesions.form import LesionForm
from tabwb.workbench.shell import settings


def parts(*targets: str) -> list[Part]:
    return [Part(f"0.{target}", target, 0, 8, 8, {"w": 32}) for target in targets]


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(settings.THEMES[0])
        self.theme = settings.THEMES[0].name

    def compose(self) -> ComposeResult:
        yield LesionForm()


async def spec_after(chosen: str, *models: list[Part]) -> str:
    app = Shown()
    async with app.run_test() as pilot:
        form = app.query_one(LesionForm)
        await pilot.pause()
        if chosen:
            app.query_one("#lab-target", Input).value = chosen
            await pilot.pause()
        for model in models:
            form.offer(model)
            await pilot.pause()
        return form.spec


async def test_a_model_without_the_first_target_begins_with_the_next() -> None:
    gated, plain = parts("mlp.gate", "mlp.down"), parts("mlp.in", "mlp.out")
    assert await spec_after("", plain) == "mlp.out:zero:0.3@seed=1"
    assert await spec_after("", plain, gated) == "mlp.down:zero:0.3@seed=1"
    assert await spec_after("", gated) == "mlp.down:zero:0.3@seed=1"


async def test_a_target_that_the_user_chose_stays() -> None:
    spec = await spec_after("mlp.up", parts("mlp.in", "mlp.out"))
    assert spec == "mlp.up:zero:0.3@seed=1"
