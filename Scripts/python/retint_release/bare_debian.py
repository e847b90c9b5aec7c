"""A Debian with only its base system and Python, to use a release in."""

import os
import shutil
import subprocess

from retint_release import fail, output

COMMAND = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc"]


def make(root):
    """Makes the folder `root` unless it is there."""
    if os.geteuid() != 0:
        fail("a bare Debian needs root, for debootstrap and chroot")
    if root.exists():
        return
    if not shutil.which("debootstrap"):
        fail("there is no debootstrap: run Scripts/setup --release")
    suite, mirror = source()
    new = root.with_name(root.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.parent.mkdir(parents=True, exist_ok=True)
    output("debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, new, mirror)
    # In a container, debootstrap leaves a link to the container's.
    if (new / "proc").is_symlink():
        (new / "proc").unlink()
        (new / "proc").mkdir()
    new.rename(root)


def source():
    """This system's release of Debian, and the mirror that apt takes it from."""
    suite = output("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME").strip()
    for line in output(
            "apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"
    ).splitlines():
        site, release = line.split()
        if release == suite:
            return suite, site
    fail(f"apt has no source of {suite}")


def run(root, folder, *command, **environment):
    """Runs a command there, without a network and the variables of this process."""
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
        **environment}
    done = subprocess.run(
        [*COMMAND, f"--root={root}", f"--wd={folder}", *map(str, command)], env=environment)
    if done.returncode:
        fail(f"exit code {done.returncode} of {' '.join(map(str, command))} in {root}{folder}")
