# SPDX-License-Identifier: MIT
"""Calls with arrays on a CUDA device, without one: what reaches a driver that keeps count (tests/gpu/fake_cuda.c).

Device memory is memory of the host there, and kernels do nothing. Results are tested by test_torch_cuda.py, on a GPU.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("needs Linux: elsewhere posenc has no GPU library", allow_module_level=True)

ROOT = Path(__file__).parents[2]

# ---------------------------------------------------------------- arrays that say they are on a GPU

CHILD = '''
import ctypes, sys
import numpy as np
import posenc

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
CODES = {"f": 2, "i": 0, "u": 1, "b": 6}

class OnDevice:
    """An array of NumPy that DLPack describes as memory of CUDA's device 0."""
    def __init__(self, array, device=0):
        self.array = array
        a = array
        self.shape = (ctypes.c_int64 * a.ndim)(*a.shape)
        self.strides = (ctypes.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
        self.managed = Managed(Tensor(a.ctypes.data, 2, device, a.ndim, CODES[a.dtype.kind], 8 * a.itemsize, 1,
                                      ctypes.addressof(self.shape), ctypes.addressof(self.strides), 0), None, None)
    def __dlpack__(self, **_):
        return capsule(ctypes.addressof(self.managed), b"dltensor", None)
    def __len__(self):
        return len(self.array)

def there(*shape, dtype=np.float32, device=0):
    return OnDevice(np.ones(shape, dtype), device)

def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except posenc.Error as error:
        print(error.status, error.sentence)
    else:
        print("nothing was refused")

rope = posenc.Encoding("rope", heads=4, kv_heads=2, head_dim=64)
turn = posenc.Encoding("rope", heads=4, head_dim=64)
alibi = posenc.Encoding("alibi", heads=4, head_dim=64)
t5 = posenc.Encoding("t5", heads=4, head_dim=64)
x, y = there(2, 8, 4, 64), there(2, 8, 4, 64)
work = there(1 << 24, dtype=np.uint8)
'''

COUNTS = """
from ctypes import c_int, c_uint, c_void_p, c_char
class Fake(ctypes.Structure):
    _fields_ = [("lock", c_char * %d), ("fail", c_char * 64), ("fail_at", c_int), ("code", c_int), ("failing", c_int),
                ("failed", c_int), ("devices", c_int), ("major", c_int), ("minor", c_int), ("shared", c_int),
                ("retained", c_int), ("memory", c_int), ("modules", c_int), ("depth", c_int), ("wrong", c_int),
                ("refuse", c_int), ("loads", c_int), ("launches", c_int), ("limits", c_int), ("grid", c_uint * 3),
                ("threads", c_uint), ("dynamic", c_uint), ("stream", c_void_p)]
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_state.restype = ctypes.POINTER(Fake)
fake = driver.fake_state().contents
fake.devices, fake.major, fake.minor, fake.shared = 2, 8, 0, 160 * 1024
"""


def first_in_path(folder: Path) -> str:
    """Where the loader looks: the folder before all others."""
    return ":".join([str(folder), *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))])


def run(code: str, env: dict[str, str]) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where a child process finds the driver and the compiler that keep count."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, cc, for the driver that keeps count")
    folder = tmp_path_factory.mktemp("cuda")
    for source, name in (("fake_cuda.c", "libcuda.so.1"), ("fake_nvrtc.c", "libnvrtc.so")):
        command = [
            compiler,
            "-shared",
            "-fPIC",
            "-pthread",
            f"-I{ROOT / 'tests'}",
            str(ROOT / "tests" / "gpu" / source),
            "-o",
            str(folder / name),
        ]
        subprocess.run(command, check=True)
    return {
        "LD_LIBRARY_PATH": first_in_path(folder),
        "POSENC_NVRTC": str(folder / "libnvrtc.so"),
        "POSENC_CUDA_CACHE": "",
    }


def counting(code: str, driver: dict[str, str]) -> list[str]:
    return run(CHILD + COUNTS % MUTEX + code, driver)


MUTEX = 48 if os.uname().machine == "aarch64" else 40 if ctypes.sizeof(ctypes.c_void_p) == 8 else 24


def test_without_a_driver_an_array_on_a_gpu_is_refused_with_the_librarys_sentence(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("no library")  # whatever the machine has
    lines = run(CHILD + "refused(rope.rotate, x, out=y)", {"LD_LIBRARY_PATH": first_in_path(tmp_path)})
    assert lines[0].startswith("PE_ERR_DEVICE ") and "libcuda" in lines[0]


def test_a_rotation_is_one_launch_on_the_stream_of_the_caller(driver: dict[str, str]) -> None:
    code = """
assert rope.rotate(x, out=y, stream=0x1230) is y
print(fake.launches, hex(fake.stream), fake.wrong)
rope.rotate(x, there(8, dtype=np.int64), out=y, stream=0x4560)
print(fake.launches, hex(fake.stream), fake.wrong)
k = there(2, 8, 2, 64)
rope.rotate_qk(x, k, q_out=y, k_out=k)
rope.rotate_qk(x, k, q_out=y, k_out=k, back=True)
rope.unrotate(x, out=y), rope.rotate_back(x, out=y)
print(fake.launches, fake.stream, fake.wrong)
"""
    assert counting(code, driver) == ["1 0x1230 0", "2 0x4560 0", "6 None 0"]


def test_the_compiler_can_be_named_in_the_process(driver: dict[str, str]) -> None:
    code = f"""
posenc._core.set_cuda_compiler({driver["POSENC_NVRTC"]!r})
rope.rotate(x, out=y)
print(fake.launches)
"""
    assert counting(code, {**driver, "POSENC_NVRTC": "/nowhere"}) == ["1"]


def test_attention_and_its_gradients_are_launched_on_the_stream_of_the_caller(driver: dict[str, str]) -> None:
    code = """
params = OnDevice(np.frombuffer(memoryview(t5), np.float32).copy())
dparams = OnDevice(np.zeros_like(params.array))
out, lse = there(2, 8, 4, 64), there(2, 8, 4)
t5.attention(x, x, x, causal=True, params=params, out=out, lse=lse, work=work, stream=0x1230)
print(fake.launches > 0, hex(fake.stream), fake.wrong)
before = fake.launches
t5.attention_backward(x, x, x, causal=True, params=params, out=out, lse=lse, dout=y, dq=there(2, 8, 4, 64),
                      dk=there(2, 8, 4, 64), dv=there(2, 8, 4, 64), dparams=dparams, work=work, stream=0x4560)
print(fake.launches > before, hex(fake.stream), fake.wrong)
"""
    assert counting(code, driver) == ["True 0x1230 0", "True 0x4560 0"]


def test_growing_lengths_share_a_plan_and_a_device_is_opened_once(driver: dict[str, str]) -> None:
    code = """
def attend(n):
    q = there(1, n, 4, 64)
    alibi.attention(q, q, q, causal=True, out=there(1, n, 4, 64), work=work)
    return fake.memory
first = attend(3)
print([attend(n) - first for n in (4, 100, 256)], attend(300) > first, attend(5) == attend(300), fake.retained)
del alibi
print(fake.memory < first, fake.wrong)
"""
    assert counting(code, driver) == ["[0, 0, 0] True True 1", "True 0"]


def test_plans_reach_as_far_as_the_library_wants_for_every_run_of_positions(driver: dict[str, str]) -> None:
    """It refuses a call whose distances are past those of its plan; fire's depend on where queries are, too."""
    code = """
import itertools
fire = posenc.Encoding("fire:hidden=4", heads=4, head_dim=64)
weights = OnDevice(np.frombuffer(memoryview(fire), np.float32).copy())
done = 0
for queries, keys, causal, align, window, first, start, e in itertools.product(
    (1, 300), (1, 300), (False, True), ("end", "start", "position"), (0, 5), (None, 0, 700), (None, 300), (alibi, fire)
):
    q, k = there(1, queries, 4, 64), there(1, keys, 4, 64)
    e.attention(q, k, k, causal=causal, align=align, window=window, q_positions=first, k_positions=start,
                params=weights if e is fire else None, out=there(1, queries, 4, 64), work=work)
    done += 1
print(done)
"""
    assert counting(code, driver) == ["576"]


def test_what_a_call_on_a_gpu_lacks_is_said(driver: dict[str, str]) -> None:
    cases = {
        "refused(rope.rotate, x)": "makes no new ones for others",
        "refused(rope.rotate, x, out=np.ones((2, 8, 4, 64), np.float32))": "x lies on CUDA device 0 and out on the CPU",
        "refused(rope.rotate, x, out=there(2, 8, 4, 64, device=1))": "x lies on CUDA device 0 and out on CUDA device 1",
        "refused(rope.rotate, x, np.arange(8), out=y)": "all arrays of a call must be on one device",
        "refused(rope.rotate, x, there(8), out=y)": "positions lies on a GPU as float32; needs int64, int32 or float64",
        "refused(t5.attention, x, x, x, out=y)": "params is not given",
        "refused(turn.attention, x, x, x, out=y)": "needs arrays to write to",
        "refused(turn.attention, x, x, x, out=y, work=there(8, dtype=np.uint8))": "work is uint8 of 8 elements; needs",
        "refused(alibi.attention, x, x, x, out=y, exact=True)": "exact=True is computed by the CPU",
        "refused(alibi.attention, x, x, x, out=y, k_lengths=there(2, dtype=np.int64))": "needs q_start=k_lengths",
        "refused(alibi.attention, x, x, x, out=y, k_lengths=there(2, dtype=np.int32))": "lies on a GPU as int32",
        "refused(alibi.attention, x, x, x, out=y, q_positions=there(8, dtype=np.int64))": "needs behind and ahead",
        "refused(posenc.Encoding('shaw', heads=4, head_dim=64).attention, x, x, x, out=y, work=work, "
        "params=there(33 * 64))": "use tensors of the CPU",
        "refused(rope.shift, x, 0, 3)": "k lies on CUDA device 0, where this call is not there yet",
        "refused(rope.table, there(8, dtype=np.int64))": "positions lies on CUDA device 0",
        "refused(alibi.bias, there(8, dtype=np.int64))": "positions lies on CUDA device 0",
        "refused(posenc.Encoding('sinusoidal', heads=4, head_dim=64).embed, there(8, 256), "
        "out=there(8, 256))": "x lies on CUDA device 0",
    }
    lines = counting("\n".join(cases), driver)
    for (call, expected), line in zip(cases.items(), lines, strict=True):
        assert expected in line, f"{call}: {line}"
