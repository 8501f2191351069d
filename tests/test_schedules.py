"""What starts the runs every day: files that have to be right as they stand."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tradmem import MarkdownJournal, Memory
from tradmem.cli.run import run

NOW = datetime(2026, 1, 5, 15, tzinfo=UTC)
ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "graph" / "schedule"
OPTIONS = {name for option in run.params for name in option.opts}


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def calls(content):
    """The words behind each ``tradmem run`` in a text."""
    for line in content.splitlines():
        if not line.lstrip().startswith("#") and (found := re.search(r"tradmem run (.*)", line)):
            yield shlex.split(found[1])


@pytest.mark.parametrize("name", ["crontab", "tradmem.service", "github-actions.yml", "README.md"])
def test_every_run_that_is_started_has_options_that_there_are(name):
    found = list(calls(text(name).replace("`", " ")))
    assert found or name == "README.md"
    for words in found:
        assert {word for word in words if word.startswith("-")} <= OPTIONS


def test_the_readme_names_every_file():
    files = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert files == set(re.findall(r"\]\(([^)]+)\)", text("README.md")))


def test_the_crontab_has_five_fields_and_a_command():
    lines = [line for line in text("crontab").splitlines() if line and not line.startswith("#")]
    jobs = [line for line in lines if not re.match(r"[A-Z_]+=", line)]
    assert len(jobs) == 2
    for job in jobs:
        *fields, command = job.split(maxsplit=5)
        for field, most in zip(fields, (59, 23, 31, 12, 7), strict=True):
            numbers = [int(number) for number in re.findall(r"\d+", field)]
            assert field == "*" or (numbers and max(numbers) <= most)
        assert "%" not in command  # which cron takes for the end of a line
        assert command.startswith("cd /srv/tradmem && .venv/bin/tradmem ")


def unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(text(name))
    return parser


def test_the_service_runs_once_and_tries_again_what_can_be_mended():
    service = unit("tradmem.service")["Service"]
    assert service["Type"] == "oneshot"
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"].split() == ["2", "3"]
    assert service["SuccessExitStatus"].split() == ["130", "143"]
    assert "KillMode" not in service  # SIGTERM reaches the run, which then ends what is in hand
    timer = unit("tradmem.timer")["Timer"]
    assert (timer["Persistent"], timer["OnCalendar"]) == ("true", "Mon..Fri 09:35 America/New_York")


def test_systemd_takes_the_units(tmp_path):
    """Asked where there is systemd, with the command where it is on that machine."""
    program = tmp_path / "srv" / ".venv" / "bin" / "tradmem"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    paths = []
    for name in ("tradmem.service", "tradmem.timer"):
        path = tmp_path / name
        path.write_text(text(name).replace("/srv/tradmem", str(tmp_path / "srv")))
        paths.append(str(path))
    assert str(program) in Path(paths[0]).read_text()
    if shutil.which("systemd-analyze"):
        command = ["systemd-analyze", "verify", *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        told = [line for line in done.stderr.splitlines() if str(tmp_path) in line]
        assert (done.returncode, told) == (0, [])


def test_the_workflow_keeps_the_log_whatever_became_of_the_run():
    flow = yaml.safe_load(text("github-actions.yml"))
    triggers = flow[True]  # YAML takes the key `on` for a truth value
    (at,) = triggers["schedule"]
    assert len(at["cron"].split()) == 5
    assert "workflow_dispatch" in triggers
    assert flow["permissions"] == {"contents": "write"}
    assert flow["concurrency"] == {"group": "tradmem", "cancel-in-progress": False}
    (job,) = flow["jobs"].values()
    names = [step.get("name") or step["uses"].split("@")[0] for step in job["steps"]]
    decide, keep = names.index("Decide"), names.index("Keep the log, whatever became of the run")
    assert decide < keep
    assert job["steps"][keep]["if"] == "always()"
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert job["timeout-minutes"] <= 360


@pytest.mark.parametrize("own", [".gitignore", ".gitattributes"])
def test_the_workflow_commits_the_log_and_no_lock(tmp_path, own):
    """Its own commands, in a repository with a remote."""
    flow = yaml.safe_load(text("github-actions.yml"))
    (script,) = [
        s["run"] for s in flow["jobs"]["decide"]["steps"] if "git commit" in s.get("run", "")
    ]
    (tmp_path / "logs").mkdir()
    for name in ("memory.md", "memory.md.runs.jsonl", "memory.md.lock", "memory.md.run.lock"):
        (tmp_path / "logs" / name).write_text(name)
    (tmp_path / own).write_text("logs/*\n" if own == ".gitignore" else "*.md text\n")
    before = f"""
        git init -q --bare remote.git
        git init -q -b main .
        git config user.name x; git config user.email x@example.org
        git add {own}; git commit -qm first
        git remote add origin ./remote.git; git push -q -u origin main
    """
    listed = "git ls-tree -r --name-only origin/main"
    script = f"set -e\n{before}\n{script}\n{script}\n{listed}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        own,
        "logs/memory.md",
        "logs/memory.md.runs.jsonl",
    ]


def test_the_workflow_joins_what_somebody_pushed_meanwhile(tmp_path):
    steps = yaml.safe_load(text("github-actions.yml"))["jobs"]["decide"]["steps"]
    named = {step.get("name"): step.get("run") for step in steps}
    install = named["Let git join the log by entry, should somebody push meanwhile"]
    keep = named["Keep the log, whatever became of the run"]
    clones = [tmp_path / "runner", tmp_path / "other", tmp_path / "third"]
    runner, other, third = clones
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "TRADMEM_LOG": "logs/memory.md"}

    def sh(script: str, folder: Path = tmp_path) -> None:
        command = ["bash", "-e", "-c", script]
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr

    def decide(folder: Path, ticker: str) -> None:
        memory = Memory.open(folder / "logs" / "memory.md", clock=lambda: NOW)
        memory.record(ticker, "2026-01-05", f"**Rating**: Buy\n\nOn {ticker}.")

    me = "git config user.name x; git config user.email x@example.org;"
    sh("git init -q --bare -b main remote.git; git clone -q remote.git runner")
    sh(f"{me} git commit -q --allow-empty -m first; git push -q -u origin main", runner)
    sh(install, runner)
    decide(runner, "AAPL")
    sh(keep, runner)
    sh("git clone -q remote.git other")
    decide(runner, "MSFT")  # a run goes on
    decide(other, "NVDA")
    sh(f"{me} git add logs; git commit -qm more; git push -q", other)
    sh(keep, runner)
    sh("git clone -q remote.git third")
    journal = MarkdownJournal(third / "logs" / "memory.md")
    assert {entry.ticker for entry in journal.entries()} == {"AAPL", "MSFT", "NVDA"}
    assert journal.problems() == []


def test_the_cluster_runs_one_at_a_time_and_not_as_root():
    config, claim, job = yaml.safe_load_all(text("kubernetes.yaml"))
    assert [each["kind"] for each in (config, claim, job)] == [
        "ConfigMap",
        "PersistentVolumeClaim",
        "CronJob",
    ]
    assert (job["apiVersion"], job["spec"]["concurrencyPolicy"]) == ("batch/v1", "Forbid")
    assert job["spec"]["timeZone"] == "America/New_York"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # which the policy for failures needs
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert {word for word in container["args"] if word.startswith("--")} <= OPTIONS
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(Path(container["args"][2]).parent) in mounts
    assert config["data"]["watchlist.txt"].split()


def test_the_image_copies_what_there_is_and_runs_as_the_clusters_user():
    lines = text("Dockerfile").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert steps[0] == ["FROM", "python:3.12-slim"]
    for name, rest in steps:
        assert name in {
            "FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "ENV", "ENTRYPOINT", "CMD",
        }  # fmt: skip
        for source in rest.split()[:-1] if name == "COPY" else ():
            assert (ROOT / source).exists()
    user = dict(steps)["USER"]
    assert f"runAsUser: {user}" in text("kubernetes.yaml")
    command = yaml.safe_load(dict(steps)["CMD"])
    assert command[0] == "run"
    assert {word for word in command if word.startswith("--")} <= OPTIONS
