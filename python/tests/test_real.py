# SPDX-License-Identifier: MIT
"""Every config class of the installed transformers: its own rotary module against posenc.from_config."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import posenc  # noqa: E402
import real_models as real  # noqa: E402
import transformers  # noqa: E402
from real_exceptions import REASONS, SCALED  # noqa: E402


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Default configs of composite models warn of what they assume."""
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)
    transformers.logging.set_verbosity(before)


@pytest.mark.parametrize("model_type", real.MODEL_TYPES)
def test_rotation_of_a_model_type_equals_from_config_or_is_listed(model_type: str) -> None:
    cases = real.compare_type(model_type)
    wrong = {case: differs for case, differs in cases.items() if differs and case not in REASONS}
    equal = [case for case, differs in cases.items() if not differs and case in REASONS]
    assert not wrong, "fix, or list in real_exceptions.py with the reason"
    assert not equal, "take these out of real_exceptions.py"


def test_every_listed_case_exists() -> None:
    cases = {case for name in {case.split(".")[0] for case in REASONS} for case in real.compare_type(name)}
    assert REASONS.keys() <= cases


def test_most_rotary_modules_are_run() -> None:
    """A walk that finds nothing passes every other test: these families must be among what was compared."""
    families = "llama gptj gemma3_text deepseek_v3 qwen2_vl_text qwen2_vl_vision ernie4_5_vl_moe_text dinov3_vit"
    for family in families.split():
        cases = real.compare_type(family)
        assert cases and not any(cases.values()), family


def configs_with_defaults() -> Iterator[str]:
    for model_type in real.MODEL_TYPES:
        if model_type not in REASONS:
            real.config_of(model_type)
            yield model_type


def test_a_part_in_the_whole_config_is_what_it_is_alone() -> None:
    wrong = {name: real.differing_parts(name) for name in configs_with_defaults() if real.config_of(name).sub_configs}
    assert len(wrong) > 100  # models of parts in this transformers: 176
    assert not {name: parts for name, parts in wrong.items() if parts}


@pytest.mark.parametrize("scaling", real.SCALINGS)
def test_every_scaling_of_every_rotary_module_equals_from_config_or_is_listed(scaling: str) -> None:
    cases = {}
    for name in configs_with_defaults():
        config = real.scaled_config(name, scaling)
        if config is not None:
            cases |= {(scaling, case): differs for case, differs in real.compare_config(name, config)}
    assert len(cases) > 140  # model types with one plain rope: 155
    assert {case for case, differs in cases.items() if differs} == {case for case in SCALED if case[0] == scaling}


@pytest.mark.parametrize("change", ("theta", "pairs", "scaling"))
def test_a_wrong_encoding_is_found(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: a base, a pair layout or a scaling that is not the model's."""
    wrong = {"theta": "rope:theta=20000", "pairs": "rope:pairs=adjacent", "scaling": "rope:scaling=linear,factor=2"}
    encoding = posenc.Encoding(wrong[change], heads=32, head_dim=128)
    monkeypatch.setattr(posenc, "from_config", lambda *_, **__: [encoding])
    assert "differs" in str(real.compare_type("llama")["llama"])
