"""How masks are sent and used, against plain torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
from tabwb_transformers.lesions.choice import unpacked  # noqa: E402
from tabwb_transformers.lesions.operations import act, clear  # noqa: E402
from tabwb_transformers.lesions.surgery import Surgery, _count  # noqa: E402

from tabwb.lesion.spec import parse_lesions  # noqa: E402

(ZERO,) = parse_lesions("mlp.down:zero:0.3")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("is_turned", [False, True])
def test_masked_weights_become_0_and_the_others_keep_their_bits(
    dtype: Any, is_turned: bool
) -> None:
    # More than is cleared at once, in rows of which the last block is smaller.
    weights = torch.randn(300, 700, generator=torch.Generator().manual_seed(1)).to(dtype)
    weights[0, :4] = torch.tensor([torch.nan, torch.inf, -0.0, 1e-45])
    taken = torch.rand(weights.shape, generator=torch.Generator().manual_seed(2)) < 0.3
    expected = torch.where(taken, torch.zeros((), dtype=dtype), weights)
    if is_turned:
        weights, expected, taken = weights.mT, expected.mT, taken.mT
    copy = torch.empty_like(weights)
    clear(weights, taken, copy)
    act(ZERO, weights, taken, "0.mlp.down", 0.0)
    bits = torch.uint8
    for found in (copy, weights):
        assert torch.equal(found.contiguous().view(bits), expected.contiguous().view(bits))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(700,), (20, 35), (7, 5, 20)])
def test_units_become_0_and_the_others_keep_their_bits(dtype: Any, shape: tuple[int, ...]) -> None:
    # Units along the columns, as neurons are in the last projection.
    weights = torch.randn(*shape[1:], shape[0], generator=torch.Generator().manual_seed(1)).to(
        dtype
    )
    expected = weights.clone()
    expected[..., [0, 3, 6]] = 0
    (lesion,) = parse_lesions("mlp.neurons:zero:0.3")
    act(lesion, weights.movedim(-1, 0), torch.tensor([0, 3, 6]), "0.mlp.neurons", 0.0)
    assert torch.equal(weights.view(torch.uint8), expected.view(torch.uint8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_masked_weights_are_scaled_and_rounded_once(dtype: Any, offset: float) -> None:
    weights = torch.randn(300, 700, generator=torch.Generator().manual_seed(1)).to(dtype)
    taken = torch.rand(weights.shape, generator=torch.Generator().manual_seed(2)) < 0.3
    wide = weights if dtype == torch.float64 else weights.float()
    expected = weights.clone()
    expected[taken] = ((wide[taken] + offset) * 0.3 - offset).to(dtype)
    (lesion,) = parse_lesions("mlp.down:scale:0.3@factor=0.3")
    act(lesion, weights, taken, "0.mlp.down", offset)
    assert torch.equal(weights, expected)


@pytest.mark.parametrize("count", [1, 8, 9, 1000])
def test_a_packed_mask_arrives_whole(count: int) -> None:
    mask = np.random.default_rng(count).random(count) < 0.5
    assert np.array_equal(unpacked(torch.from_numpy(np.packbits(mask)), count).numpy(), mask)


def test_a_lesion_on_a_device_waits_for_nothing() -> None:
    """A tensor without values stands for one of an accelerator: reading a number of it fails."""
    weights = torch.empty(300, 700, dtype=torch.bfloat16, device="meta")
    mask = torch.empty(300, 700, dtype=torch.bool, device="meta")
    units = torch.empty(3, dtype=torch.int64, device="meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        mask.sum().item()
    for taken in (mask, units):
        copy = torch.empty_like(weights)
        clear(weights, taken, copy)
        act(ZERO, weights, taken, "0.mlp.down", 0.0)
    # The number of masked weights stays on the device until all parts are under way.
    assert isinstance(_count(weights, mask), torch.Tensor) and _count(weights, units) == 3 * 700


def test_masks_drawn_in_several_threads_are_the_same() -> None:
    from tests.plugins.lesion_models import made

    surgery = Surgery(made("llama"), lambda: None)
    lesions = parse_lesions("projections:zero:0.3@seed=5+norm:scale:0.5@factor=2")
    threads = torch.get_num_threads()
    found = []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            facts = surgery.apply(lesions)
            found.append((facts, surgery.fingerprint()))
    finally:
        torch.set_num_threads(threads)
    assert found[0] == found[1]
