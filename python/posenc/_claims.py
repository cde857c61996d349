# SPDX-License-Identifier: MIT
"""posenc.claims: what an ideal encoding would do, measured, for built-in encodings and for your own.

The tool measures built-in ones (src/prove). Those of your own are measured here by the same rules and thresholds. One
difference: a Python function forms an angle t * w in float64, which rounds it by up to t * 2^-53. So relative,
symmetric and linear are measured at positions where that is far below their thresholds (REACH); the others up to 2^36,
as the tool does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _core, _tool
from ._custom import Array, Custom
from ._show import sizes_of

At = tuple[int, ...]
Verdict = tuple[str, float]  # the outcome, and what was measured

SEED = 0x706F73656E63
POSITION_MAX = 1 << 36
EXACT = 1e-13  # an element computed twice, a length
SAME = 1e-11  # scores: 64 products
LINEAR = 1e-8  # a map that was solved for
APART = 1e-14  # two codes that are closer than rounding are one
GROWTH = 1.25  # a logarithm from 10^3 to 2^36 grows 2-fold or more
NEAR_COPY = 1e-8  # of the square of a code: what is left of it is explained by others
TELLING, VECTORS, SAMPLES, PAIRS, TRIES, ENOUGH = 900, 100, 300, 60, 5000, 20
LENGTHS = (700, 5000, 70000)  # of the sequence, for an encoding that depends on it
NOTHING: Verdict = ("no meaning", math.nan)


def _reach(threshold: float) -> int:
    """The power of 2 up to which an angle's rounding is below a 64th of the threshold."""
    return 1 << int(math.log2(threshold / 64 * 2.0**53))


REACH = {SAME: _reach(SAME), LINEAR: _reach(LINEAR)}  # 2^10, 2^20


def _outcome(holds: bool) -> str:
    return "holds" if holds else "fails"


class _Refused(Exception):
    """A position has no code."""


class _Subject:
    """An encoding with contents, where its positions end, and its code: all that it tells about a position."""

    def __init__(self, encoding: Custom) -> None:
        self.encoding = encoding
        self.random = random.Random(SEED)
        self.q = self.uniform(encoding.heads, encoding.head_dim)
        self.k = self.uniform(encoding.kv_heads, encoding.head_dim)
        self.scores_pairs = "bias" in encoding.hooks
        self.touches = "embed" in encoding.hooks or "rotate" in encoding.hooks
        self.origin = (0,) * encoding.axes
        self._code_at(self.origin)  # one that is wrong here is wrong altogether: its own error says how
        self.high = [self._furthest(axis, 1) for axis in range(encoding.axes)]
        self.low = [0 if self.scores_pairs else self._furthest(axis, -1) for axis in range(encoding.axes)]

    def uniform(self, *shape: int) -> Array:
        """Numbers of -1 .. 1."""
        return np.array([self.random.uniform(-1, 1) for _ in range(math.prod(shape))]).reshape(shape)

    # ------------------------------------------------------------ codes

    def position(self, at: At) -> Any:
        """Coordinates as functions take them."""
        return at[0] if len(at) == 1 else at

    def _code_at(self, at: At) -> Array:
        encoding, position = self.encoding, self.position(at)
        parts: list[Array] = []
        if "embed" in encoding.hooks:
            parts.append(encoding.code_at(position))
        parts += [encoding.matrix_at(position, side).ravel() for side in encoding.sides]
        if self.scores_pairs:
            parts.append(encoding.bias_at(position, self.position(self.origin)))
        return np.concatenate(parts)

    def code(self, at: At) -> Array:
        """What is added, how it rotates, what a query there adds to its score towards the origin; side by side."""
        try:
            return self._code_at(at)
        except (LookupError, ValueError, ArithmeticError) as error:
            raise _Refused from error

    def codes(self, places: list[At]) -> Array:
        """Codes of positions inside the range, (places, size)."""
        rows: list[Array] = []
        for at in places:
            try:
                rows.append(self.code(at))
            except _Refused as error:
                name, where = self.encoding.name, self.position(at)
                raise ValueError(f"{name}: position {where} is inside its range and has no code") from error
        return np.stack(rows)

    # ------------------------------------------------------------ positions

    def _is_served(self, at: At) -> bool:
        try:
            self.code(at)
        except _Refused:
            return False
        return True

    def _furthest(self, axis: int, sign: int) -> int:
        """The furthest coordinate that is served from 0 on; what is served is an interval."""

        def served(n: int) -> bool:
            return self._is_served(tuple(sign * n if a == axis else 0 for a in range(self.encoding.axes)))

        if served(POSITION_MAX):
            return sign * POSITION_MAX
        low, high = 0, POSITION_MAX
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if served(middle) else (low, middle)
        return sign * low

    def endless(self) -> bool:
        """Whether every axis goes on to the last position."""
        return all(high == POSITION_MAX for high in self.high) and (
            self.scores_pairs or all(low == -POSITION_MAX for low in self.low)
        )

    def serves(self, at: At) -> bool:
        """Whether coordinates are in the range."""
        return all(low <= x <= high for low, x, high in zip(self.low, at, self.high, strict=True))

    def wide(self, low: int, high: int) -> int:
        """A coordinate whose magnitude is as likely as any other."""
        most = 1 << self.random.randint(0, max(high, -low).bit_length())
        x = self.random.randint(0, most)
        return _clamp(-x if self.random.getrandbits(1) else x, low, high)

    def either(self, low: int, high: int) -> int:
        """A coordinate: any magnitude, or any number, as likely."""
        return self.wide(low, high) if self.random.getrandbits(1) else self.random.randint(low, high)

    def anywhere(self, limit: int) -> At:
        """A position that is served, at most so far."""
        return tuple(
            self.either(_clamp(-limit, low, 0), _clamp(limit, 0, high))
            for low, high in zip(self.low, self.high, strict=True)
        )


def _clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0))


def _change(one: Array, two: Array) -> float:
    """The largest change, relative to what is above 1."""
    return _largest((one - two) / np.maximum(1, np.abs(one)))


# ---------------------------------------------------------------- codes


def _telling(s: _Subject) -> list[At]:
    """Neighbours near and far, and positions a power of two apart, where tables and float formats repeat."""
    found: set[At] = set()
    tried, base = 0, s.origin
    for index in range(100 * TELLING):
        axis, turn = index % s.encoding.axes, index // s.encoding.axes
        if turn % 4 == 0:
            base = s.anywhere(300 if turn < TELLING / 3 else POSITION_MAX)
        step = turn % 4 if turn < 2 * TELLING / 3 else (1 << turn % 37) - base[axis] * (turn % 4 < 2)
        at = tuple(x + step * (a == axis) for a, x in enumerate(base))
        if s.serves(at):
            found.add(at)
            tried += 1
        if tried == TELLING:
            break
    return sorted(found)


def _unique(s: _Subject) -> Verdict:
    """The smallest distance of two codes, relative to their size."""
    code = s.codes(_telling(s))
    size = np.abs(code).max(axis=1)
    code = code[:, (code != code[0]).any(axis=0)]  # an element that is always the same tells nothing apart
    gap = math.inf
    for i in range(1, len(code)):
        apart = np.abs(code[:i] - code[i]).max(axis=1, initial=0)
        both = np.maximum(size[:i], size[i])
        gap = min(gap, float(np.divide(apart, both, out=np.zeros_like(apart), where=both > 0).min()))
    return _outcome(gap > APART), gap


def _length_change(s: _Subject, length: int) -> float:
    """The largest change of a code with the length, at positions that both lengths serve."""
    other = _Subject(s.encoding.at_length(length))
    places = [s.anywhere(600 if n < 30 else POSITION_MAX) for n in range(60)]
    places = [at for at in places if other.serves(at)]
    return _change(s.codes(places), other.codes(places)) if places else 0.0


def _any_length(s: _Subject) -> Verdict:
    """The largest change of a code with the length, or when it is asked for again among others."""
    places = [s.anywhere(POSITION_MAX) for _ in range(32)]
    again = _largest(s.codes(places) - s.codes(places[::-1])[::-1])
    most = max(again, *(_length_change(s, length) if s.encoding.length else 0.0 for length in LENGTHS))
    return _outcome(most < EXACT), most


def _bounded(s: _Subject) -> Verdict:
    """The largest element far away over the largest nearby. No position is past the end of its text."""
    if not s.endless():
        return NOTHING
    longer = _Subject(s.encoding.at_length(POSITION_MAX)) if s.encoding.length else s
    rest = s.origin[1:]
    near = [(i, *rest) for i in range(300)] + [s.anywhere(1000) for _ in range(400)]
    far = [s.anywhere(POSITION_MAX) for _ in range(300)]
    most_near, most_far = _largest(s.codes(near)), _largest(longer.codes(far))
    growth = most_far / most_near if most_near > 0 else math.inf if most_far > 0 else 0.0
    return _outcome(growth < GROWTH), growth


def _axes(s: _Subject) -> Verdict:
    """f(x, y) - f(x', y) - f(x, y') + f(x', y') for every element of the code and any two axes."""
    count = s.encoding.axes
    if count < 2:
        return NOTHING
    worst = 0.0
    for n in range(VECTORS):
        start, end = s.anywhere(POSITION_MAX), s.anywhere(POSITION_MAX)
        corners = [
            tuple(end[a] if (x if a == n % count else y) else start[a] for a in range(count))
            for x, y in ((0, 0), (1, 0), (0, 1), (1, 1))
        ]
        f = s.codes(corners)
        size = np.maximum(1, np.abs(f).max(axis=0))
        worst = max(worst, _largest((f[0] - f[1] - f[2] + f[3]) / size))
    return _outcome(worst < EXACT), worst


# ---------------------------------------------------------------- code(t + k) = M(k) code(t) + b(k)


def _basis(code: Array, image: Array) -> tuple[Array, Array]:
    """An orthonormal basis of the codes, and what M makes of it: Gram-Schmidt with pivots."""
    code, image = code.copy(), image.copy()
    norm = (code**2).sum(axis=1)
    bases, images = [np.zeros(code.shape[1])], [np.zeros(code.shape[1])]
    for _ in range(min(code.shape)):
        left = np.divide((code**2).sum(axis=1), norm, out=np.zeros_like(norm), where=norm > 0)
        pivot = int(left.argmax())
        if left[pivot] <= NEAR_COPY:
            break
        length = float(np.sqrt((code[pivot] ** 2).sum()))
        basis, of_basis = code[pivot] / length, image[pivot] / length
        bases.append(basis)
        images.append(of_basis)
        part = code @ basis
        code -= np.outer(part, basis)
        image -= np.outer(part, of_basis)
        norm[pivot] = 0  # taken
    return np.array(bases[1:]).reshape(-1, code.shape[1]), np.array(images[1:]).reshape(-1, code.shape[1])


def _shifted(s: _Subject, limit: int, shift: At) -> tuple[At, At]:
    """A position and the same shifted, both served."""
    while True:
        at = s.anywhere(limit)
        to = tuple(x + k for x, k in zip(at, shift, strict=True))
        if s.serves(to):
            return at, to


def _linear_by(s: _Subject, shift: At) -> Verdict:
    """Without a constant, or with one."""
    verdict = _fit_shift(s, shift, constant=False)
    return _fit_shift(s, shift, constant=True) if verdict[0] == "fails" else verdict


def _fit_shift(s: _Subject, shift: At, constant: bool) -> Verdict:
    """M and b are solved for on some positions and tried on others. Codes that are all independent fit any map."""
    encoding = s.encoding
    widths = {"embed": encoding.model_dim, "rotate": encoding.head_dim, "bias": encoding.heads}
    samples = max(SAMPLES, 2 * sum(widths[hook] for hook in encoding.hooks))
    limit = 1000 if not s.endless() else 1 << 15 if constant else REACH[LINEAR] if s.touches else 1 << 30
    pairs = [_shifted(s, 150 if i % 2 else limit, shift) for i in range(2 * samples)]
    code, image = (s.codes([pair[side] for pair in pairs]) for side in (0, 1))
    used = (code != 0).any(axis=0) | (image != 0).any(axis=0)
    code, image = code[:, used], image[:, used]
    if constant:  # a 1 behind the code: b
        code = np.hstack([code, np.ones((len(code), 1))])
        image = np.hstack([image, np.zeros((len(image), 1))])
    basis, of_basis = _basis(code[:samples], image[:samples])
    size = np.maximum(np.abs(image[samples:]).max(axis=1, initial=0), 1 if constant else 1e-300)
    left = image[samples:] - code[samples:] @ basis.T @ of_basis
    worst = float((np.abs(left).max(axis=1, initial=0) / size).max())
    distinct = len({row.tobytes() for row in code[:samples]})
    if len(basis) == distinct > 1:
        return "no meaning", float(distinct)
    return _outcome(worst < LINEAR), worst


def _linear(s: _Subject) -> Verdict:
    """A short shift and a long one: a short table is past its end after a long one, steps show only then."""
    near = tuple(s.random.randint(1, _clamp(high // 5, 1, 5)) for high in s.high)
    far = tuple(_clamp(high // 3, 1, s.random.randint(16, 40)) for high in s.high)
    one, two = _linear_by(s, near), _linear_by(s, far)
    if one[0] == "fails" or (one[0] == two[0] == "holds" and one[1] > two[1]):
        return one
    return two


# ---------------------------------------------------------------- pairs of tokens


class _Contents(NamedTuple):
    """What two tokens hold: as queries and keys, and before; a matrix for the model's projections."""

    q: Array
    k: Array
    x: Array | None = None
    y: Array | None = None
    m: Array | None = None


def _pair(s: _Subject, c: _Contents, i: At, j: At) -> Array:
    """All that two tokens see of each other: (x + p_i) . M (y + p_j), and the score of each head."""
    encoding, at_i, at_j = s.encoding, s.position(i), s.position(j)
    try:
        added = 0.0
        if "embed" in encoding.hooks:
            one, two = encoding.code_at(at_i), encoding.code_at(at_j)
            one, two = (one if c.x is None else one + c.x), (two if c.y is None else two + c.y)
            added = float(one @ two if c.m is None else one @ c.m @ two)
        q, k = c.q, c.k
        if "rotate" in encoding.hooks:
            q = np.stack([encoding.rotated_at(row, at_i) for row in q])
            k = np.stack([encoding.rotated_at(row, at_j, "key") for row in k])
        score = (q * np.repeat(k, encoding.heads // encoding.kv_heads, axis=0)).sum(axis=1) * encoding.scale
        if s.scores_pairs:
            score = score + encoding.bias_at(at_i, at_j)
    except (LookupError, ValueError, ArithmeticError) as error:
        raise _Refused from error
    return np.concatenate([[added], score])


def _random_pair(s: _Subject) -> tuple[At, At]:
    """A base, and a distance, not 0, that tables may reach."""
    base: list[int] = []
    distance: list[int] = []
    for low, high in zip(s.low, s.high, strict=True):
        if s.touches:
            base.append(s.either(max(low, -REACH[SAME]), min(high, REACH[SAME])))
        else:
            base.append(s.either(-POSITION_MAX // 4, POSITION_MAX // 4))
        distance.append(s.random.randint(0, _clamp(high // 3, 0, 50)))
    if not any(distance):
        distance[s.random.randrange(len(distance))] = 1
    return tuple(base), tuple(distance)


def _moved(at: At, distance: At, sign: int) -> At:
    return tuple(x + sign * d for x, d in zip(at, distance, strict=True))


def _served_pairs(s: _Subject, draw: Callable[[], tuple[Array, ...]]) -> Iterator[tuple[Array, ...]]:
    """What draw finds at random pairs, as often as it is served; not every pair is."""
    found = 0
    for _ in range(TRIES):
        try:
            seen = draw()
        except _Refused:
            continue
        yield seen
        found += 1
        if found == PAIRS:
            return


def _relative(s: _Subject) -> Verdict:
    """The largest change of any score when both positions move by the same amount."""
    width = s.encoding.model_dim if "embed" in s.encoding.hooks else 0
    contents = _Contents(s.q, s.k, s.uniform(width), s.uniform(width), s.uniform(width, width))

    def draw() -> tuple[Array, ...]:
        (i, distance), (k, _) = _random_pair(s), _random_pair(s)
        return tuple(_pair(s, contents, at, _moved(at, distance, -1)) for at in (i, k))

    changes = [_change(*seen) for seen in _served_pairs(s, draw)]
    if len(changes) < ENOUGH:
        raise ValueError(f"{s.encoding.name}: only {len(changes)} of {TRIES} pairs were served; needs {ENOUGH}")
    worst = max(changes)
    return _outcome(worst < SAME), worst


def _symmetric(s: _Subject) -> Verdict:
    """f(t, t + d) = f(t, t - d) and f(i, j) = f(j, i), with equal contents on both sides."""
    contents = _Contents(np.repeat(s.k, s.encoding.heads // s.encoding.kv_heads, axis=0), s.k)

    def draw() -> tuple[Array, ...]:
        t, distance = _random_pair(s)
        back, ahead = _moved(t, distance, -1), _moved(t, distance, 1)
        return tuple(_pair(s, contents, i, j) for i, j in ((t, back), (t, ahead), (ahead, t)))

    changes = [
        max(_change(back, ahead), _change(ahead, exchanged)) for back, ahead, exchanged in _served_pairs(s, draw)
    ]
    worst = max(changes, default=math.inf)  # none served: one direction has no score at all
    return _outcome(worst < SAME), worst


def _endless(s: _Subject) -> Verdict:
    """How many of the 4 farthest pairs are refused."""
    refused = 0
    for i, j in ((i, j) for i in (-1, 1) for j in (-1, 1)):
        try:
            _pair(s, _Contents(s.q, s.k), (i * POSITION_MAX,) * len(s.origin), (j * POSITION_MAX,) * len(s.origin))
        except _Refused:
            refused += 1
    return _outcome(not refused), float(refused)


# ---------------------------------------------------------------- vectors


def _norm(s: _Subject) -> Verdict:
    """The largest change of the length of a vector that is touched."""
    if not s.touches:
        return NOTHING
    worst = 0.0
    for _ in range(VECTORS):
        position = s.position(s.anywhere(POSITION_MAX))
        touched: list[tuple[Array, Array]] = []
        if "embed" in s.encoding.hooks:
            x = s.uniform(s.encoding.model_dim)
            touched.append((x, x + s.encoding.code_at(position)))
        touched += [(q, s.encoding.rotated_at(q, position, side)) for side in s.encoding.sides for q in s.q]
        worst = max(worst, *(abs(math.sqrt((y @ y) / (x @ x)) - 1) for x, y in touched))
    return _outcome(worst < EXACT), worst


def _invertible(s: _Subject) -> Verdict:
    """The largest difference after rotating back."""
    if not s.encoding.sides:
        return NOTHING
    worst = 0.0
    for side in s.encoding.sides * VECTORS:
        position = s.position(s.anywhere(POSITION_MAX))
        for q in s.q:
            try:
                back = s.encoding.unrotated_at(s.encoding.rotated_at(q, position, side), position, side)
            except np.linalg.LinAlgError:
                return "fails", math.inf
            worst = max(worst, _largest(back - q))
    return _outcome(worst < EXACT), worst


def _learned(s: _Subject) -> Verdict:
    count = s.encoding.parameters
    return "yes" if count > 0 else "no", float(count)


# ---------------------------------------------------------------- all of them

MEASURES: dict[str, Callable[[_Subject], Verdict]] = {
    "unique": _unique,
    "any-length": _any_length,
    "bounded": _bounded,
    "linear": _linear,
    "relative": _relative,
    "norm": _norm,
    "axes": _axes,
    "symmetric": _symmetric,
    "invertible": _invertible,
    "endless": _endless,
    "learned": _learned,
}


def _told(row: dict[str, Any], verdict: Verdict, claimed: bool) -> dict[str, Any]:
    """A row of the tool's list of properties, with the verdict of another encoding."""
    outcome, number = verdict
    return {
        **row,
        "outcome": outcome,
        "outcome_text": "HOLDS" if outcome == "holds" else outcome,
        "number": number if math.isfinite(number) else None,
        "claimed": claimed,
        "number_text": "" if outcome == "no meaning" else f"{number:.3g}",
    }


def _measured(encoding: Custom) -> dict[str, Any]:
    unknown = set(encoding.claims) - MEASURES.keys()
    if unknown:
        raise ValueError(f"{encoding.name}: there is no claim {min(unknown)!r}; needs some of {', '.join(MEASURES)}")
    listed = _tool.ask("prove", "none", properties=True, lang="en")["specs"][0]["properties"]
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite counts as refused
        subject = _Subject(encoding)
        rows = [_told(row, MEASURES[row["name"]](subject), row["name"] in encoding.claims) for row in listed]
    broken = any(row["claimed"] and row["outcome"] in ("fails", "no") for row in rows)
    return {"spec": encoding.name, "properties": rows, "as_claimed": not broken}


def claims(encoding: str | _core.Encoding | Custom, **options: Any) -> dict[str, Any]:
    """Measures what an ideal encoding would do: "spec", "properties", and "as_claimed": what it claims holds.

    A row of "properties" has its "name" (unique, any-length, bounded, linear, relative, norm, axes, symmetric,
    invertible, endless, learned), its "outcome" (holds, fails, no meaning; of learned: yes, no), the "number" that was
    measured, "what" it is, the "sentence" that is tested and whether it is "claimed". Options, of specs: heads,
    kv_heads, head_dim, model_dim.
    """
    if isinstance(encoding, Custom):
        if options:
            raise TypeError(f"claims() of a Custom has no option {min(options)!r}: its shape is its own")
        return _measured(encoding)
    sizes = {} if isinstance(encoding, str) else sizes_of(encoding)
    spec = encoding if isinstance(encoding, str) else encoding.spec
    told = _tool.ask("prove", spec, properties=True, lang="en", **{**sizes, **options})
    result: dict[str, Any] = told["specs"][0]
    return result
