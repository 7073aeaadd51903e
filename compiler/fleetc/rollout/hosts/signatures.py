"""Signs a sealed plan and checks its signature, with ssh-keygen and keys that people already have.

In: the plan's bytes, a key, or an allowed-signers file. Out: the signature's bytes, or who signed. The signature lies
beside the plan as `plan.json.sig`; its namespace is fleetc-plan, so that no signature made for anything else counts.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import tempfile
from pathlib import Path

from fleetc.rollout.plan.data import PlanRefusedError, Refusal
from fleetc.text.encoders import visible

NAMESPACE = "fleetc-plan"
_HEAD, _TAIL = "-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----\n"
_LINE = 70
_MAGIC = b"SSHSIG\x00\x00\x00\x01"
_SECONDS = 120  # a person may have to type a passphrase or touch a key
_KEPT_VARIABLES = ("PATH", "HOME", "USER", "LANG", "TERM", "DISPLAY", "SSH_AUTH_SOCK", "SSH_ASKPASS", "TMPDIR")


def sign(content: bytes, key: Path) -> bytes:
    """The signature of `content` by a private key, or by the agent that holds the private half of a public one.

    Raises PlanRefusedError: plan-signing-failed, ssh-keygen-missing.
    """
    done = _ssh_keygen(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], content)
    if done.returncode or not is_canonical(done.stdout):
        message = f"ssh-keygen cannot sign with {visible(str(key))}: {_words(done)}"
        raise PlanRefusedError(Refusal("plan-signing-failed", message, "name a private key that ssh-keygen can use"))
    return done.stdout


def check(content: bytes, signature: bytes, allowed_signers: Path, signer: str | None) -> str:
    """Who signed `content`: `signer`, or without that any identity of the allowed-signers file.

    ssh-keygen only names the identities of the key's first line, but another line may allow it to sign plans. So it
    asks each line and tries each identity. Raises PlanRefusedError: plan-signature-bad, plan-signers-unreadable,
    ssh-keygen-missing.
    """
    lines = _lines(allowed_signers)
    if not is_canonical(signature):
        raise _bad("the signature does not have the form that ssh-keygen writes")
    with tempfile.TemporaryDirectory(prefix="fleetc-signature-") as work:
        file = Path(work, "plan.sig")
        file.write_bytes(signature)
        if signer is not None:
            if not _is_of(signer, allowed_signers, file, content):
                raise _bad(f"the signature is not {visible(signer)}'s signature of this plan")
            return signer
        single, known = Path(work, "signers"), []
        for line in lines:
            single.write_bytes(line)
            names = _principals(single, file)
            known += names
            for name in names:
                if _is_of(name, single, file, content):
                    return name
    if not known:
        raise _bad(f"nobody in {visible(str(allowed_signers))} has the key that signed it")
    raise _bad(f"the signature is not one by {visible(' or '.join(dict.fromkeys(known)))} for this plan")


def _principals(allowed: Path, signature: Path) -> list[str]:
    """The identities of a signature's key in an allowed-signers file."""
    answer = _ssh_keygen(["-Y", "find-principals", "-f", str(allowed), "-s", str(signature)], b"")
    return [] if answer.returncode else answer.stdout.decode(errors="replace").splitlines()


def _is_of(name: str, allowed: Path, signature: Path, content: bytes) -> bool:
    """Whether a signature of `content` is valid and by `name`."""
    words = ["-f", str(allowed), "-s", str(signature), "-I", name, "-n", NAMESPACE]
    return _ssh_keygen(["-Y", "verify", *words], content).returncode == 0


def is_canonical(signature: bytes) -> bool:
    """Whether a signature is spelled as ssh-keygen writes it.

    ssh-keygen itself reads more: other line ends, blanks, text behind the end, a version of 0.
    """
    text = signature.decode("ascii", errors="replace")
    if not (text.startswith(_HEAD) and text.endswith(_TAIL)):
        return False
    lines = text[len(_HEAD) : -len(_TAIL)]
    try:
        blob = base64.b64decode(re.sub("\n", "", lines), validate=True)
    except ValueError:
        return False
    spelt = base64.b64encode(blob).decode()
    wrapped = "".join(f"{spelt[i : i + _LINE]}\n" for i in range(0, len(spelt), _LINE))
    return blob.startswith(_MAGIC) and wrapped == lines


def _bad(what: str) -> PlanRefusedError:
    advice = "have an allowed signer sign the unchanged plan, or make and sign a new one"
    return PlanRefusedError(Refusal("plan-signature-bad", what, advice))


def _lines(file: Path) -> list[bytes]:
    """The lines of an allowed-signers file that name people.

    ssh-keygen reports a missing file as a bad signature, which sends people the wrong way.
    """
    try:
        lines = file.read_bytes().splitlines(keepends=True)
        return [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    except (OSError, ValueError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else "not a path"
        message = f"the allowed-signers file {visible(str(file))} cannot be read: {reason}"
        advice = "correct the setting allowed_signers; without that file no signature is valid"
        raise PlanRefusedError(Refusal("plan-signers-unreadable", message, advice)) from None


def _ssh_keygen(arguments: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {"LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            input=content,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        message = f"ssh-keygen did not answer within {_SECONDS} seconds"
        refusal = Refusal(
            "plan-signing-failed", message, "check whether it waits for a passphrase or for you to touch a key"
        )
        raise PlanRefusedError(refusal) from None
    except OSError as failure:
        message = f"cannot run ssh-keygen: {failure.strerror}"
        advice = "install OpenSSH 8.2 or newer; fleetc signs plans and checks signatures with its ssh-keygen"
        raise PlanRefusedError(Refusal("ssh-keygen-missing", message, advice), exit_code=3) from None


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last thing that ssh-keygen said."""
    lines = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines()
    return visible(lines[-1])[:200] if lines else f"exit code {done.returncode}"
