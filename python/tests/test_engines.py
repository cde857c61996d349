# SPDX-License-Identifier: MIT
"""The examples in examples/race that Python can check: Kubernetes's manifest by its schema, Ray by a race.

tests/test_race_engines.sh has those of programs: GNU parallel, Slurm, Snakemake.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import posenc
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "race"
JOB = (EXAMPLES / "job.yaml").read_text(encoding="utf-8")


def _validate(text: str) -> dict[str, Any]:
    """The manifest, by the newest schema that there is, which knows every key; resources are names of its own."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    job: dict[str, Any] = pytest.importorskip("yaml").safe_load(text)
    kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)
    for container in job["spec"]["template"]["spec"]["containers"]:
        unknown = set(container["resources"]["requests"]) - {"cpu", "memory"}
        if unknown:
            raise ValueError(f"resources are {unknown}")
    return job


def test_the_manifest_of_kubernetes_is_a_job_on_a_volume() -> None:
    job = _validate(JOB)
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    (container,), (volume,) = pod["containers"], pod["volumes"]
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"]
    assert pod["restartPolicy"] == "OnFailure"  # one that died is started again
    (mount,) = container["volumeMounts"]
    assert mount["name"] == volume["name"]
    folder = container["command"][container["command"].index("--out") + 1]
    assert folder.startswith(mount["mountPath"] + "/")
    assert "ReadWriteMany" in JOB  # as all pods write there


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("backoffLimit:", "backoffLimt:"),
        ("volumes:", "volume:"),
        ("cpu:", "cpuu:"),
        ("image:", "imag:"),
        ("completions: 8", "completions: eight"),
    ],
)
def test_a_manifest_with_a_mistake_is_found(right: str, wrong: str) -> None:
    error = pytest.importorskip("kubernetes_validate").ValidationError
    assert JOB.count(right) == 1
    with pytest.raises((error, ValueError)):
        _validate(JOB.replace(right, wrong))


def _table(folder: Path) -> list[list[str]]:
    """What a race measured, without its seconds."""
    with (folder / "results.csv").open(encoding="utf-8") as file:
        return [row[:9] + row[10:] for row in csv.reader(file)]


def test_tasks_of_ray_train_what_one_process_does(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    tiny: dict[str, Any] = {
        "steps": 40, "seeds": 2, "layers": 1, "width": 16, "heads": 2,
        "train_length": 16, "test": "1x,2x", "batch": 2, "test_tokens": 64,
    }  # fmt: skip
    example = (EXAMPLES / "ray_race.py").read_text(encoding="utf-8")
    given, names = '{"steps": 400, "seeds": 3}', '"none,rope,alibi"'
    assert example.count(given) == example.count(names) == 1
    small = tmp_path / "small.py"
    small.write_text(example.replace(given, repr(tiny)).replace(names, '"none,rope"'), encoding="utf-8")
    posenc.race("none,rope", folder=str(tmp_path / "one"), progress=False, **tiny)
    done = subprocess.run(
        [sys.executable, str(small), str(tmp_path / "rayed"), "3"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert len(_table(tmp_path / "one")) > 4
    assert _table(tmp_path / "rayed") == _table(tmp_path / "one")
