# SPDX-License-Identifier: MIT
"""Every position encoding for Transformers, exact and fast.

>>> import numpy, posenc
>>> rope = posenc.Encoding("rope:theta=5e5", heads=8, head_dim=64)
>>> q = numpy.ones((2, 16, 8, 64), numpy.float32)  # (batch, tokens, heads, dim)
>>> rope.rotate(q, start=100).shape
(2, 16, 8, 64)
"""

from ._claims import claims
from ._core import Error, __version__, encodings, get_threads, set_threads
from ._custom import Custom
from ._encoding import Encoding
from ._race import RaceResult, race
from ._show import Picture, show
from ._tool import ToolError
from ._verbs import check, diff, explain, extend, from_config, prove, walk

__all__ = [
    "Custom",
    "Encoding",
    "Error",
    "Picture",
    "RaceResult",
    "ToolError",
    "__version__",
    "check",
    "claims",
    "diff",
    "encodings",
    "explain",
    "extend",
    "from_config",
    "get_threads",
    "prove",
    "race",
    "set_threads",
    "show",
    "walk",
]
