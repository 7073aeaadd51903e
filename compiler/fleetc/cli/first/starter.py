"""What `fleetc init` writes, and where.

In: the shipped texts, the fleet's place in its repository, the secrets it uses, and where fleetc itself comes from.
Out: texts by path. Pure; `cli/init.py` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from fleetc.text.encoders import readable_word, yaml_string
from fleetc.version import __version__

ATTRIBUTES, IGNORED, ANSIBLE, STORY = ".gitattributes", ".gitignore", "ansible.cfg", "README.md"
PIPELINES = ".gitlab-ci.yml"
SHARED = (ATTRIBUTES, IGNORED, ANSIBLE, STORY, PIPELINES)
"""The files that a repository may already have: `init` keeps them and prints what they lack."""


class CiService(StrEnum):
    """A service that runs workflows."""

    github = "github"
    gitlab = "gitlab"


_WORKFLOWS: Mapping[CiService, Mapping[str, str]] = {
    CiService.github: {
        ".github/workflows/fleet-review@NAME@.yml": "github/fleet-review.yml",
        ".github/workflows/fleet-comment@NAME@.yml": "github/fleet-comment.yml",
        ".github/workflows/fleet-deploy@NAME@.yml": "github/fleet-deploy.yml",
        ".github/workflows/fleet-verify@NAME@.yml": "github/fleet-verify.yml",
    },
    CiService.gitlab: {
        PIPELINES: "gitlab/pipelines.yml",
        ".gitlab/fleetc/fleet@NAME@.yml": "gitlab/fleet.yml",
    },
}
"""By service, the path in the repository and the name of the shipped text. `@NAME@` tells several fleets apart."""

_INSTALLED: Mapping[CiService, str] = {CiService.github: ".github/fleetc", CiService.gitlab: ".gitlab/fleetc"}
"""By service, the directory with what workflows install."""

_NOTE = """\
# What the workflows install before fleetc: its dependencies and build tools, each with its version and hashes.
# Written by fleetc init. pip refuses packages that are not listed, and files with another hash.
"""
_OWN_NOTE = """\
# The fleetc that the workflows install; requirements.txt has its dependencies. pip has no hash for a commit and needs
# none: the id fixes the content. A published release looks like fleetc==VERSION --hash=sha256:HASH.
# Written by fleetc init.
"""

_COMMIT = re.compile(
    r"git\+(https://[A-Za-z0-9.-]+(:[0-9]+)?|ssh://git@[A-Za-z0-9.-]+(:[0-9]+)?|file://)(/[\w.~+-]+)+@[0-9a-f]{40}",
    re.A,
)
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def requirement(source: str) -> str | None:
    """The pip line for fleetc: git+URL@COMMIT, or sha256:HASH of the published wheel of this version.

    None for other sources: a branch or tag can move, and an address can contain a password.
    """
    if _COMMIT.fullmatch(source):
        return f"{source}#egg=fleetc"  # the name, so that pip refuses a repository of another package
    if _HASH.fullmatch(source):
        return f"fleetc=={__version__} --hash={source}"
    return None


def unfit_secret(name: str) -> str:
    """Why a variable cannot be a secret of a workflow; empty if it can."""
    if name.upper().startswith(("GITHUB_", "CI_", "RUNNER_", "GITLAB_")):
        return "belongs to the service that runs workflows"
    if name.startswith(("FLEETC_", "FLEET_")) or name in ("SPEC", "PATH", "HOME"):
        return "belongs to the workflow itself"
    return ""


def first_files(specs: Mapping[str, str], shipped: Mapping[str, str], schema: str) -> dict[str, str]:
    """A spec with its overlays and what belongs beside it, by path in its directory; `schema` is that of specs."""
    own = {ATTRIBUTES: shipped["gitattributes"], IGNORED: shipped["gitignore"], ANSIBLE: shipped["ansible.cfg"]}
    return {**specs, "spec.schema.json": schema, **own}


def example_files(shipped: Mapping[str, str], name: str) -> dict[str, str]:
    """A shipped example's story and specs by name, with the schema beside them; empty if there is none."""
    texts = {path.removeprefix(f"{name}/"): text for path, text in shipped.items() if path.startswith(f"{name}/")}
    return {path: text.replace("#:schema ../", "#:schema ./", 1) for path, text in texts.items()}


def not_written(name: str, text: str) -> list[str]:
    """The message about an existing file of `SHARED`, behind its path."""
    if name == STORY:
        return ["exists and was not changed; the page of the example was not written"]
    return ["exists and was not changed; add these lines if missing:", *(f"    {line}" for line in text.splitlines())]


def workflows(
    shipped: Mapping[str, str], service: CiService, spec: str, own: str, secrets: Sequence[str]
) -> dict[str, str]:
    """The workflows of a service for one spec, and what they install, by path in the repository.

    `spec` is the spec's path in the repository, whose folder is part of their names. `own` is the `requirement` of
    fleetc, `secrets` are the variables that only the deployment gets.
    """
    wired = _SECRETS[service](secrets)
    folder = re.sub("[^a-z0-9]+", "-", spec.rpartition("/")[0].lower())[:60].strip("-")
    name = folder and f"-{folder}"
    texts = {
        path.replace("@NAME@", name): shipped[text]
        .replace("@NAME@", name)
        .replace("@SPEC@", yaml_string(spec))
        .replace("@SECRETS@", wired)
        for path, text in _WORKFLOWS[service].items()
    }
    place = _INSTALLED[service]
    return texts | {
        f"{place}/requirements.txt": _NOTE + shipped["requirements.txt"],
        f"{place}/fleetc.txt": f"{_OWN_NOTE}{own}\n",
        f"{place}/limits{name}.toml": shipped["limits.toml"],
    }


def _github_secrets(names: Sequence[str]) -> str:
    return "".join(f"          {name}: ${{{{ secrets.{name} }}}}\n" for name in names)


def _gitlab_secrets(names: Sequence[str]) -> str:
    """GitLab gives a job every variable of its environment; the file can only list which ones it needs."""
    if not names:
        return ""
    lines = "".join(f"#   {name}\n" for name in names)
    return f"# Protected and masked variables of the environment production, which the spec uses as secrets:\n{lines}"


_SECRETS = {CiService.github: _github_secrets, CiService.gitlab: _gitlab_secrets}


def next_commands(directory: str, written: Sequence[str], in_repository: bool) -> list[str]:
    """What to run next, as shell lines; outside of a repository they begin one in the directory."""
    place = "" if directory == "." else f" {_word(directory)}"
    tree = "rendered" if directory == "." else f"{directory}/rendered"
    lines = [f"fleetc check{place}", f"fleetc compile{place}", f"fleetc todo{place}  # what people provide"]
    if in_repository:
        return [*lines, f"git add {' '.join(map(_word, [*written, tree]))}"]
    top = "" if directory == "." else f" -C {_word(directory)}"
    return [*lines, f"git init{place}", f"git{top} add ."]


def _word(path: str) -> str:
    return readable_word(f"./{path}" if path.startswith("-") else path)
