"""Lesions of listed units on real weights, against plain loops over named tensors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
from tabwb_transformers.lesions.surgery import Surgery  # noqa: E402

from tabwb.lesion.spec import stored_form  # noqa: E402
from tabwb.records.errors import UsageError  # noqa: E402
from tests.plugins.lesion_models import made  # noqa: E402

UNITS = {"0.mlp.neurons": [3, 40], "2.mlp.neurons": [7], "1.attention.heads": [2]}


def spec_of(folder: Path, target: str, more: str = "") -> str:
    path = folder / "units.json"
    path.write_text(json.dumps({"format": 1, "units": UNITS}))
    return f"{target}@select=list,file={path}{more}"


def test_listed_units_become_0_and_nothing_else(tmp_path: Path) -> None:
    model, expected = made("llama"), made("llama").state_dict()
    for layer, neurons in ((0, [3, 40]), (2, [7])):
        expected[f"model.layers.{layer}.mlp.down_proj.weight"][:, neurons] = 0
    expected["model.layers.1.self_attn.o_proj.weight"][:, 16:24] = 0  # the third of four heads
    text = "+".join(spec_of(tmp_path, f"{one}:zero") for one in ("mlp.neurons", "attention.heads"))
    facts = Surgery(model, lambda: None).apply(stored_form(text))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert facts["lesion_units"] == "0.mlp.neurons:3,40;2.mlp.neurons:7+1.attention.heads:2"
    assert facts["lesion_parameters"] == str(3 * 32 + 8 * 32)


@pytest.mark.parametrize("operation", ["mean", "scale", "noise", "shuffle", "swap"])
def test_other_operations_change_the_listed_units_alone(tmp_path: Path, operation: str) -> None:
    model, before = made("gpt2"), made("gpt2").state_dict()
    option = {"scale": ",factor=0.5", "noise": ",sigma=1"}.get(operation, "")
    text = spec_of(tmp_path, f"mlp.neurons:{operation}", f"{option},layers=0")
    Surgery(model, lambda: None).apply(stored_form(text))
    changed = {
        name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])
    }
    place = "transformer.h.0.mlp.c_proj.weight"
    assert changed == {place}
    rows = (model.state_dict()[place] != before[place]).any(1).nonzero()[:, 0]
    assert rows.tolist() == [3, 40]


def test_a_list_that_changed_is_refused_and_the_model_intact(tmp_path: Path) -> None:
    model = made("llama")
    (lesion,) = stored_form(spec_of(tmp_path, "mlp.neurons:zero"))
    Path(lesion.file).write_text('{"format": 1, "units": {"0.mlp.neurons": [1]}}')
    with pytest.raises(UsageError, match="has changed"):
        Surgery(model, lambda: None).apply([lesion])
    assert all(
        torch.equal(tensor, other)
        for tensor, other in zip(
            model.state_dict().values(), made("llama").state_dict().values(), strict=True
        )
    )
