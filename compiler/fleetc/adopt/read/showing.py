"""What of a source the account and the excerpts of messages may repeat: what is known to be harmless, nothing else.

In: words of a source. Out: the same as people may see them. A file of notes or of a password is read like a script, so
a word that nobody knows may be a secret, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from fleetc.adopt.found.words import Word
from fleetc.adopt.node.flags import TYPES
from fleetc.text import leaks
from fleetc.upstream import FLAGS

HIDDEN_COMMAND = "a command"
HIDDEN_WORD = "a word"

_PROGRAMS = frozenset({
    ".", ":", "[", "[[", "alias", "apk", "apt", "apt-get", "ash", "awk", "basename", "bash", "bg", "bin", "bind",
    "break", "builtin", "bunzip2", "bzip2", "caddy", "case", "cat", "cd", "certbot", "chgrp", "chmod", "chown",
    "chpasswd", "clear", "command", "compgen", "continue", "cp", "cron", "crontab", "curl", "cut", "dash", "date",
    "dd", "declare", "df", "dig", "dirname", "disown", "dmesg", "dnf", "do", "docker", "docker-compose", "done",
    "dpkg", "du", "echo", "elif", "else", "env", "esac", "eval", "exec", "exit", "export", "expr", "false", "fg",
    "fi", "file", "find", "firewall-cmd", "for", "free", "function", "getent", "geth", "getopts", "git", "grep",
    "groupadd", "groups", "gunzip", "gzip", "haproxy", "head", "help", "hostname", "hostnamectl", "htop", "id", "if",
    "ifconfig", "install", "ionice", "ip", "iptables", "jobs", "journalctl", "jq", "kill", "killall", "kubectl",
    "less", "let", "livepeer", "livepeer_bench", "livepeer_cli", "livepeer_router", "ln", "local", "logger",
    "loginctl", "logrotate", "ls", "lsof", "make", "md5sum", "mkdir", "mkfifo", "mktemp", "modprobe", "more", "mount",
    "mv", "nano", "nc", "netstat", "nft", "nginx", "nice", "nohup", "npm", "nslookup", "numactl",
    "nvidia-persistenced", "nvidia-smi", "openssl", "passwd", "perl", "pgrep", "ping", "pip", "pip3", "pkill",
    "podman", "popd", "poweroff", "printenv", "printf", "prlimit", "prometheus", "ps", "pushd", "pwd", "python",
    "python3", "read", "readlink", "readonly", "realpath", "reboot", "return", "rm", "rmdir", "rsync", "runuser",
    "scp", "screen", "sed", "select", "seq", "service", "set", "setcap", "setsid", "sh", "sha256sum", "shift",
    "shopt", "shutdown", "sleep", "snap", "sort", "source", "ss", "ssh", "ssh-keygen", "stat", "stdbuf", "su", "sudo",
    "supervisorctl", "supervisord", "swapoff", "swapon", "sync", "sysctl", "systemctl", "systemd-run", "tail", "tar",
    "taskset", "tee", "test", "then", "time", "timeout", "tmux", "touch", "tr", "trap", "true", "type", "typeset",
    "ufw", "ulimit", "umask", "umount", "unalias", "uname", "uniq", "unset", "until", "unzip", "uptime", "useradd",
    "usermod", "vi", "vim", "wait", "watch", "wc", "wget", "which", "while", "who", "whoami", "xargs", "yum", "zip",
    "zsh",
})  # fmt: skip
"""What people call in scripts around a node; a name that is none of these may be any text."""

_HARMLESS = re.compile(
    r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[smhdkKMGwx%]|ms|wei|eth|ETH|USD)?"  # a number, maybe with a unit
    r"|v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}"
    r"|[0-9]{1,2}(?:,[0-9]{1,2})*"  # GPUs
    r"|(?:[Tt]rue|[Ff]alse|TRUE|FALSE|[Yy]es|[Nn]o|[Oo]n|[Oo]ff|all|auto|none|debug|info|warn|error)"
    r"|(?:offchain|mainnet|rinkeby|arbitrum-one-mainnet|arbitrum-one-rinkeby|arbitrum-one-goerli)"
    r"|0x[0-9a-fA-F]{40}"  # an account
    r"|(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,6}|localhost)?:[0-9]{1,5}"
    r"|https?://[a-z0-9.-]{1,200}(?::[0-9]{1,5})?/?"
    r"|[-|&;<>(){}!\\=]{1,4}"
)
_PATH = re.compile(r"(?:~|\.{1,2}|\$\{?[A-Za-z_]{1,60}\}?)?(?:/[A-Za-z0-9._${}@:+-]{1,100}){1,30}/?")
_FILE = re.compile(
    r"[A-Za-z0-9._-]{1,80}\.(?:sh|env|conf|cfg|ini|txt|json|ya?ml|toml|service|flags)|\.env[A-Za-z0-9._-]{0,30}"
)
_FLAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")


def harmless(word: Word) -> bool:
    """Whether a value is known to be no secret: empty, a number, a path, a host with a port, or nothing but holes."""
    return not word.text or word.text in word.holes or _harmless(word.text)


@lru_cache(maxsize=16384)  # fleets have the same few values in thousands of nodes
def _harmless(text: str) -> bool:
    if leaks.find(text) is not None:
        return False
    return bool(_HARMLESS.fullmatch(text) or _PATH.fullmatch(text) or _FILE.fullmatch(text))


def known_program(text: str) -> bool:
    """Whether the first word of a command names a program that people are known to call."""
    return re.split(r"[/\\]", text)[-1] in _PROGRAMS


def program(text: str) -> str:
    """The first word of a command as the account may show it."""
    return leaks.shown(text)[:60] if known_program(text) else HIDDEN_COMMAND


def file_name(text: str) -> str:
    """The path of a file as the account may show it; "a file" for a text that may be none."""
    known = leaks.find(text) is None and any(form.fullmatch(text) for form in (_PATH, _FILE))
    return text[:80] if known else "a file"


def flag(name: str, text: str) -> str:
    """A flag of the node and its value as the account may show them."""
    if FLAGS[name].secret:
        return f"-{name} (a secret, or where it is)"
    return f"-{name}={leaks.shown(text)}"


def unread(words: Sequence[Word]) -> list[str | None]:
    """Words that no node reads, as people may see them; None for one that nobody knows to be harmless."""
    shown: list[str | None] = []
    before = ""
    for word in words:
        name, equals, value = word.text.lstrip("-").partition("=")
        if word.text.startswith("-") and name in TYPES:
            shown.append(flag(name, value) if equals else f"-{name}")
            before = "" if equals else name
            continue
        of_flag = before in FLAGS and FLAGS[before].type != "bool"
        known = leaks.shown(word.text) if of_flag and not FLAGS[before].secret else None
        shown.append(known if of_flag else leaks.shown(word.text) if harmless(word) else None)
        before = ""
    return shown


def flag_name(name: str) -> str:
    """The name of a flag that the node lacks; "" for a text that may be more than a name."""
    return name if _FLAG_NAME.fullmatch(name) and leaks.may_show(name) else ""
