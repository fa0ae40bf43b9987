"""The workflows of GitHub: they are valid YAML, and agree with the files that they speak of."""

import re
import tomllib

import pytest
import yaml
from pages import ROOT

FOLDER = ROOT / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.yml"))


def workflow(name):
    return yaml.safe_load((FOLDER / name).read_text())


def steps(name):
    for job in workflow(name)["jobs"].values():
        yield from job.get("steps", [])


def manifest(folder):
    return tomllib.loads((ROOT / folder / "Cargo.toml").read_text())


def test_the_workflows_are_those_that_the_pages_name():
    assert NAMES == ["release.yml", "test.yml", "wheels.yml"]


@pytest.mark.parametrize("name", NAMES)
def test_each_job_has_a_limit_of_time_and_few_rights(name):
    content = workflow(name)
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        assert "uses" in job or {"runs-on", "timeout-minutes", "steps"} <= job.keys()


@pytest.mark.parametrize("name", NAMES)
def test_each_action_has_a_version(name):
    for step in steps(name):
        if action := step.get("uses"):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+(\.\d+)*|release/v\d+|[0-9a-f]{40})", action)


@pytest.mark.parametrize("name", NAMES)
def test_what_make_is_called_for_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for step in steps(name):
        for target in re.findall(r"^make ([a-z-]+)", step.get("run", ""), re.MULTILINE):
            assert target in targets


@pytest.mark.parametrize(("name", "job"), [("test.yml", "rust"), ("wheels.yml", "wheel")])
def test_each_system_is_covered(name, job):
    matrix = workflow(name)["jobs"][job]["strategy"]["matrix"]["include"]
    systems = {entry["os"] for entry in matrix}
    assert {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "windows-2025"} <= systems


def test_the_oldest_rust_is_that_of_the_manifest():
    oldest = manifest(".")["workspace"]["package"]["rust-version"]
    job = workflow("test.yml")["jobs"]["msrv"]
    commands = " ".join(step.get("run", "") for step in job["steps"])
    assert f"rustup toolchain install {oldest} " in commands


def test_the_oldest_python_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    matrix = workflow("test.yml")["jobs"]["python"]["strategy"]["matrix"]["include"]
    oldest = min((entry["python"] for entry in matrix), key=lambda it: int(it.split(".")[1]))
    assert project["requires-python"] == f">={oldest}"


def test_members_are_published_after_those_that_they_use():
    jobs = workflow("release.yml")["jobs"]
    step = next(step for step in jobs["crates"]["steps"] if "MEMBERS" in step.get("env", {}))
    members = step["env"]["MEMBERS"].split()
    folders = [".", *sorted(f"crates/{path.name}" for path in (ROOT / "crates").iterdir())]
    manifests = [content for folder in folders if (content := manifest(folder))]
    published = {
        content["package"]["name"]: content
        for content in manifests
        if content["package"].get("publish", True)
    }
    assert sorted(members) == sorted(published)
    for position, member in enumerate(members):
        content = published[member]
        # A dependency that has a version stays in what is published, also one of tests.
        used = {**content["dependencies"], **content.get("dev-dependencies", {})}
        own = {
            name
            for name, value in used.items()
            if name in published and isinstance(value, dict) and value.get("workspace")
        }
        assert own <= set(members[:position]), member
