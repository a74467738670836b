"""The recipes that launch all_reduce_bench.py: shell that is sound, SLURM jobs that fail loudly, manifests that validate."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import kubemanifests
import pytest
from nodes import NETWORK, PATIENCE, ROOT, clean_environment
from support import require_program

RECIPES = ROOT / "tools" / "orchestration"
SHELL = sorted(p for p in RECIPES.glob("all_reduce_bench*") if p.suffix in (".sh", ".slurm"))
SLURM = [path for path in SHELL if path.suffix == ".slurm"]
MANIFESTS = sorted(RECIPES.glob("all_reduce_bench*.yaml"))


def names(paths):
    return [path.name for path in paths]


def test_there_is_a_recipe_for_each_launcher():
    wanted = {"-torchrun.sh", ".slurm", "-pyxis.slurm", "-job.yaml", "-jobset.yaml", "-trainjob.yaml"}
    assert {name.removeprefix("all_reduce_bench") for name in names(SHELL + MANIFESTS)} == wanted


@pytest.mark.parametrize("recipe", SHELL, ids=names(SHELL))
def test_shell_is_sound(recipe):
    require_program("shellcheck", "bash")
    for command in (["bash", "-n"], ["shellcheck", "--shell=bash"]):
        done = subprocess.run([*command, str(recipe)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert "\nset -euo pipefail\n" in recipe.read_text()


# srun as these recipes use it: options, then a command that runs once for each task with SLURM's variables
SRUN = '''#!{python}
import os, subprocess, sys
words = sys.argv[1:]
options = [words.pop(0) for _ in range(next(i for i, w in enumerate(words) if not w.startswith("-")))]
open(os.environ["SEEN"], "a").write(" ".join(options) + "\\n")
mounts = dict(m.split(":")[1::-1] for o in options if o.startswith("--container-mounts=") for m in o[19:].split(","))
words = [next((host + w[len(inside):] for inside, host in mounts.items() if w.startswith(inside)), w) for w in words]
nodes, each = int(os.environ["SLURM_JOB_NUM_NODES"]), 1
tasks = []
for task in range(nodes * each):
    place = {{"SLURM_PROCID": task, "SLURM_LOCALID": task % each, "SLURM_STEP_NUM_TASKS": nodes * each, "SLURM_STEP_ID": 0}}
    tasks.append(subprocess.Popen(words, env=os.environ | {{k: str(v) for k, v in place.items()}}))
sys.exit(max(task.wait() for task in tasks))
'''


@pytest.fixture
def slurm(tmp_path):
    """Runs a recipe as slurmd would, with stand-ins for srun and scontrol; returns the finished process."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "srun").write_text(SRUN.format(python=sys.executable))
    (bin_ / "scontrol").write_text('#!/bin/sh\n[ "$1 $2" = "show hostnames" ] && printf "localhost\\nlocalhost\\n"\n')
    for path in ("srun", "scontrol"):
        (bin_ / path).chmod(0o755)

    def run(recipe: Path, *arguments: str, **variables: str):
        job = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_CPUS_PER_TASK": "1"}
        job |= {"SLURM_SUBMIT_DIR": str(tmp_path), "SEEN": str(tmp_path / "srun.log"), "GLOO_SOCKET_IFNAME": "lo"}
        job |= {"TOOL": str(NETWORK / "all_reduce_bench.py"), "PATH": f"{bin_}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", str(recipe), "--device", "cpu", "--iters", "2", "--warmup", "1", "--max-bytes", "32K", *arguments],
            env=clean_environment(**job | variables), cwd=tmp_path, capture_output=True, text=True, check=False,
            timeout=2 * PATIENCE,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("recipe", SLURM, ids=names(SLURM))
def test_a_slurm_job_measures_over_all_tasks(recipe, slurm, tmp_path):
    out = "/out/report.json" if "pyxis" in recipe.name else str(tmp_path / "report.json")
    done = slurm(recipe, "--json", str(tmp_path / "report.json") if "pyxis" not in recipe.name else out)
    assert done.returncode == 0, done.stderr
    assert "# 2 ranks on 1 host" in done.stdout
    assert f"store at localhost:{12000 + 4711 * 16 % 18000}" in done.stderr
    assert (tmp_path / "report.json").is_file()
    assert "--kill-on-bad-exit=1" in (tmp_path / "srun.log").read_text()


@pytest.mark.parametrize("recipe", SLURM, ids=names(SLURM))
def test_a_failing_payload_fails_the_job_with_its_status(recipe, slurm, tmp_path):
    """One task of two ends with status 3, as a hung benchmark does."""
    payload = tmp_path / "payload.py"
    payload.write_text("import os, sys\nsys.exit(3 if os.environ['SLURM_PROCID'] == '1' else 0)\n")
    assert slurm(recipe, TOOL=str(payload)).returncode == 3


def test_a_missing_tool_or_node_list_stops_the_job_before_it_starts(slurm, tmp_path):
    for recipe in SLURM:
        done = slurm(recipe, TOOL=str(tmp_path / "nothing.py"))
        assert (done.returncode, "say TOOL=" in done.stderr) == (2, True)
        done = slurm(recipe, SLURM_JOB_NUM_NODES="3")
        assert (done.returncode, "scontrol names 2 hosts, the job has 3 nodes" in done.stderr) == (1, True)


def test_the_torchrun_recipe_runs_and_refuses_a_node_rank_out_of_range(tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    recipe = str(RECIPES / "all_reduce_bench-torchrun.sh")
    node = {"NNODES": "1", "MASTER_ADDR": "127.0.0.1", "NPROC": "2", "TOOL": str(NETWORK / "all_reduce_bench.py"), "PATH": path}
    few = ("--device", "cpu", "--iters", "2", "--max-bytes", "32K")
    for rank, status in (("0", 0), ("1", 2)):
        done = subprocess.run(
            ["bash", recipe, *few], env=clean_environment(**node, NODE_RANK=rank), capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr


# ---- manifests


@pytest.mark.parametrize("path", MANIFESTS, ids=names(MANIFESTS))
def test_a_manifest_validates(path):
    found = kubemanifests.documents(path)
    assert found
    for document in found:
        assert kubemanifests.problems(document) == []


def mappings(node, path=()):
    """Every mapping of a document with its path."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from mappings(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from mappings(value, (*path, number))


FREE = {"labels", "matchLabels", "limits", "requests", "selector", "nodeSelector"}  # keys there are the user's own


@pytest.mark.parametrize("path", MANIFESTS, ids=names(MANIFESTS))
def test_a_planted_key_is_found_at_every_depth(path):
    for document in kubemanifests.documents(path):
        places = [place for place, _ in mappings(document) if not (place and place[-1] in FREE)]
        assert len(places) > 2
        for place in places:
            planted = copy.deepcopy(document)
            target = planted
            for step in place:
                target = target[step]
            target["plantedKey"] = "x"
            assert kubemanifests.problems(planted), place


def test_a_kind_without_schema_is_a_problem_and_so_is_a_wrong_type():
    assert "no schema" in kubemanifests.problems({"apiVersion": "x.example/v1", "kind": "Thing", "metadata": {}})[0]
    jobset = kubemanifests.documents(RECIPES / "all_reduce_bench-jobset.yaml")[0]
    jobset["spec"]["replicatedJobs"][0]["replicas"] = "1"
    assert kubemanifests.problems(jobset)


def test_the_pods_of_the_job_find_each_other_and_one_failure_ends_it():
    service, job = kubemanifests.documents(RECIPES / "all_reduce_bench-job.yaml")
    name, spec = job["metadata"]["name"], job["spec"]
    assert spec["backoffLimit"] == 0
    assert spec["parallelism"] == spec["completions"] == 2
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": name}
    assert spec["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    container = spec["template"]["spec"]["containers"][0]
    assert {"name": "NNODES", "value": "2"} in container["env"]
    assert f"--master-addr {name}-0.{service['metadata']['name']} " in container["command"][-1]


def test_the_pods_of_the_jobset_find_each_other_and_one_failure_ends_it():
    """A pod of a JobSet is called <set>-<job>-<job index>-<pod index>.<subdomain>; the subdomain is the set's name."""
    jobset = kubemanifests.documents(RECIPES / "all_reduce_bench-jobset.yaml")[0]
    name, part = jobset["metadata"]["name"], jobset["spec"]["replicatedJobs"][0]
    assert jobset["spec"]["failurePolicy"]["maxRestarts"] == 0
    assert part["template"]["spec"]["backoffLimit"] == 0
    assert jobset["spec"]["network"]["enableDNSHostnames"]
    command = part["template"]["spec"]["template"]["spec"]["containers"][0]["command"][-1]
    assert f"--master-addr {name}-{part['name']}-0-0.{name} " in command
