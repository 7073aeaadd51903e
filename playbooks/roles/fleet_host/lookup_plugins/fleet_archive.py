"""Packs the files of a host for its release.

In: a directory on the controller. Out: a gzip-compressed tar of the files in its directories, in base64, the same for
the same files; without the directory, an empty one. Files beside those directories are pages for people.
"""

from __future__ import annotations

import base64
import gzip
import io
import os
import tarfile

from ansible.plugins.lookup import LookupBase

DOCUMENTATION = r"""
name: fleet_archive
short_description: Pack the files of a host
description:
  - Returns a base64-encoded archive of what is in the folders of each directory.
options:
  _terms:
    description: Directories on the controller.
    required: true
author: The fleetc authors
"""


class LookupModule(LookupBase):
    """One archive for each directory."""

    def run(self, terms: list[str], variables: object = None, **_options: object) -> list[str]:
        """The archives in the order of the directories."""
        return [base64.b64encode(gzip.compress(packed(str(term)), 6, mtime=0)).decode() for term in terms]


def packed(directory: str) -> bytes:
    """A tar of plain files, by name, without owners and times."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for place, folders, names in os.walk(directory):
            folders.sort()
            for name in sorted(names if place != directory else ()):
                path = os.path.join(place, name)
                member = tarfile.TarInfo(os.path.relpath(path, directory).replace(os.sep, "/"))
                with open(path, "rb") as file:
                    content = file.read()
                member.size, member.mode = len(content), 0o644
                tar.addfile(member, io.BytesIO(content))
    return found.getvalue()
