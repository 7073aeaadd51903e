"""Files with secrets: written from their values, read back, and kept out of what is said.

In: references and values, or a directory. Out: contents by path, digests, and masked text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .places import CURRENT, RELEASES, Json, RefusedError
from .steps import STACK
from .system import hexdigest, names_in, read

REFUSED_IN_SECRETS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
VARIABLES = "secrets.env"
"""The file with those secrets of a node that are in its environment; each other one has a file of its own."""
PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,?\[\]-]+")
"""What all readers of an environment file of the stack take for the same text."""


def secret_value(secret: Json, values: Json, whose: str) -> str:
    """The value of a secret: from the request, or from a file on this host. Its message never holds the value."""
    kind, reference = secret["kind"], secret["reference"]
    if kind == "host_file":
        content = read(reference)
        value = "" if content is None else content.decode(errors="surrogateescape")
        value = value[:-1] if value.endswith("\n") else value
    else:
        value = str(values.get(kind, {}).get(reference, ""))
    what = "%s needs %s from %s %s, which " % (whose, secret["variable"], kind, reference)
    if not value:
        raise RefusedError("secret-missing", what + "is missing or empty")
    if REFUSED_IN_SECRETS.search(value):
        raise RefusedError("secret-unusable", what + "holds a line break or another control character")
    return value


def secret_files(wanted: Json, values: Json) -> dict[str, bytes]:
    """The content of each secret file of a release, by its path in it. Empty files are left out."""
    special = r'(["\\$])' if wanted["runtime"] == "docker" else r'(["\\$`])'
    files = {}
    for service in wanted["services"]:
        lines = []
        for secret in service["secrets"]:
            value = secret_value(secret, values, service["name"])
            if secret.get("as_file"):
                files["%s/secrets/%s" % (service["name"], secret["variable"])] = value.encode(errors="surrogateescape")
                continue
            lines.append('%s="%s"\n' % (secret["variable"], re.sub(special, r"\\\1", value)))
        if lines:
            files["%s/secrets/%s" % (service["name"], VARIABLES)] = "".join(lines).encode()
    for name in ("host", "turn"):
        lines = []
        for secret in (wanted.get("stack") or {}).get("secrets", []):
            if secret["file"] != name:
                continue
            value = secret_value(secret, values, "the avatar stack")
            if not PLAIN.fullmatch(value):
                raise RefusedError(
                    "secret-unusable",
                    "the avatar stack needs %s from %s %s, which holds more than letters, digits and "
                    "_ . / : @ %% + = , ? [ ] -, which programs of the stack would misread"
                    % (secret["variable"], secret["kind"], secret["reference"]),
                )
            lines.append("%s=%s\n" % (secret["variable"], value))
        if lines:
            files["%s/secrets/%s.env" % (STACK, name)] = "".join(lines).encode()
    return files


def secrets_at(directory: str) -> dict[str, bytes]:
    """The secret files of a release on the disk, by their path in it."""
    found = {}
    for node in names_in(directory):
        for name, content in secrets_in("%s/%s" % (directory, node)).items():
            found["%s/secrets/%s" % (node, name)] = content
    return found


def secrets_digest(directory: str) -> str:
    """The digest of a node's secrets, "-" without any. It never leaves the host."""
    return digest_of_secrets(secrets_in(directory))


def secrets_in(directory: str) -> dict[str, bytes]:
    """The secret files of a node, in the directory of its release, by their names."""
    place = directory + "/secrets"
    return {name: read("%s/%s" % (place, name)) or b"" for name in names_in(place)}


def digest_of_secrets(files: dict[str, bytes]) -> str:
    """The digest of the secret files of a node by their names, "-" without any."""
    if not files:
        return "-"
    return hexdigest("".join("%s %s\n" % (name, hexdigest(files[name])) for name in sorted(files)).encode())


def secrets_of(directory: str, runtime: str) -> dict[str, str]:
    """The values of a node's secrets by the variables that they are for, in the directory of its release."""
    files = secrets_in(directory)
    found = variables_in(files.pop(VARIABLES, b""), runtime)
    found.update((name, content.decode(errors="surrogateescape")) for name, content in files.items())
    return found


def variables_in(content: bytes, runtime: str) -> dict[str, str]:
    """The variables of an environment file that fleetc wrote."""
    found = {}
    short = {"n": "\n", "r": "\r"} if runtime == "docker" else {}
    for match in re.finditer(r'^([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"$', content.decode(), re.M | re.S):
        found[match[1]] = re.sub(r"\\(.)", lambda found: short.get(found[1], found[1]), match[2], flags=re.S)
    return found


def known_secrets(node: str, runtime: str) -> list[str]:
    """The secrets of a node in all releases that are here: its log may be of an older one."""
    found: dict[str, None] = {}
    for directory in (CURRENT, *("%s/%s" % (RELEASES, name) for name in names_in(RELEASES))):
        found.update(dict.fromkeys(secrets_of("%s/%s" % (directory, node), runtime).values()))
    return list(found)


def masked(text: str, secrets: Iterable[str]) -> str:
    """Text of a node without secrets, and without addresses but for their scheme: they may have keys in them."""
    for value in longest_first(secrets):
        text = text.replace(value, "***")
    return re.sub(r'([A-Za-z][A-Za-z0-9+.-]*://)[^\s"]+', r"\1***", text)


def longest_first(secrets: Iterable[str]) -> list[str]:
    """Secrets in the order in which they are hidden. Without those too short to be one: they are in other words too."""
    return sorted((value for value in secrets if len(value) > 3), key=len, reverse=True)
