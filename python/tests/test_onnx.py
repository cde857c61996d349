# SPDX-License-Identifier: MIT
"""ONNX's own node tests through the Python interface: what they compute, computed by posenc.Encoding."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx_nodes import RUN, Case, Unexpressed, cases  # noqa: E402

CASES = cases()

# Tests that the interface cannot express, with the reason. With onnx 1.23 there are none.
UNEXPRESSED: dict[str, str] = {}

# Of the largest value. float32 and float64: roundings of sums of a few products. Half types: posenc rounds once, from
# float32; ONNX's reference computes in the half type, so its own roundings remain: two units in the last place.
TIGHT = {"float64": 1e-15, "float32": 1e-6, "float16": 2.0**-9, "bfloat16": 2.0**-6}


def check(case: Case) -> None:
    """Within the tolerances of ONNX's test runner, which allows bfloat16 two units, and within ours."""
    got = RUN[case.operator](case)
    for name, expected in case.outputs.items():
        kind = str(expected.dtype)
        own, want = np.asarray(got[name], np.float64), np.asarray(expected, np.float64)
        rtol = max(case.rtol, TIGHT[kind]) if kind == "bfloat16" else case.rtol
        np.testing.assert_allclose(own, want, rtol=rtol, atol=case.atol, err_msg=name)
        largest = np.max(np.abs(want[np.isfinite(want)]), initial=0)
        np.testing.assert_allclose(own, want, rtol=0, atol=TIGHT[kind] * largest, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_onnx_node_test_equals_posenc_or_is_listed(name: str) -> None:
    if name not in UNEXPRESSED:
        check(CASES[name])
        return
    with pytest.raises((Unexpressed, AssertionError)):
        check(CASES[name])


def test_every_listed_test_exists() -> None:
    assert UNEXPRESSED.keys() <= CASES.keys()


def test_all_tests_of_the_three_operators_are_run() -> None:
    count = Counter(case.operator for case in CASES.values())
    assert count["RotaryEmbedding"] >= 8 and count["Attention"] >= 76 and count["FlexAttention"] >= 11


@pytest.mark.parametrize("name", ("test_attention_4d_causal", "test_rotary_embedding", "test_flexattention_soft_cap"))
def test_a_wrong_output_is_found(name: str) -> None:
    case = CASES[name]
    wrong = {output: values + np.float32(1e-5) for output, values in case.outputs.items()}
    with pytest.raises(AssertionError):
        check(Case(**{**vars(case), "outputs": wrong}))
