"""The driver, compiled for two processors."""

import concurrent.futures
import dataclasses
import pathlib
import platform
import shutil
import subprocess
import sys

import retint_tool
from retint_tool import ROOT

SOURCES = sorted(ROOT.glob("Sources/*/C*/*.c"))
# What the driver calls. The others need libraries, or the system's processes and sockets: they are
# compiled for the other processor, but not run there.
CALLED = ("Tensors/CKernels", "Images/CColor", "Tasks/CMotion", "Tensors/CDistributed",
          "Images/CImageCodecs/resample.c")
# As SwiftPM compiles a release; a warning is an error here.
FLAGS = ["-O2", "-fPIC", "-Wall", "-Werror",
         *(f"-I{folder}" for folder in sorted(ROOT.glob("Sources/*/C*/include")))]
EMULATOR = "qemu-aarch64"
CROSS = pathlib.Path("/usr/aarch64-linux-gnu")
# Debian has the headers of the libraries for this processor: they are the same for others, and
# those of the C library come first.
CROSS_FLAGS = ["--target=aarch64-linux-gnu", "-isystem", CROSS / "include", "-idirafter",
               "/usr/include", "-idirafter", f"/usr/include/{platform.machine()}-linux-gnu"]


@dataclasses.dataclass(frozen=True)
class Processor:
    name: str
    flags: tuple
    # The program that runs others, and how those are linked.
    emulator: tuple = ()
    link_flags: tuple = ()


HOST = Processor(platform.machine(), ())
AARCH64 = Processor("aarch64", tuple(CROSS_FLAGS), (EMULATOR,), ("-static", "-fuse-ld=lld"))


def require():
    if not shutil.which(EMULATOR) or not (CROSS / "lib/libc.a").exists():
        sys.exit(f"there is no {EMULATOR}, or no C library in {CROSS}; run Scripts/setup --aarch64")


def is_called(source):
    return str(source.relative_to(ROOT / "Sources")).startswith(CALLED)


class Builds:
    def __init__(self, folder):
        self.folder, self.clang = folder, retint_tool.toolchain() / "bin/clang"

    def make(self):
        """The driver by processor; raises an exception if a source does not compile."""
        driver = pathlib.Path(__file__).with_name("driver.c")
        jobs = [(processor, source) for processor in (HOST, AARCH64)
                for source in (driver, *SOURCES)
                if source == driver or processor is AARCH64 or is_called(source)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(lambda job: self.compile(*job), jobs))
        return {processor: self.link(processor, [
            made for made, (whose, source) in zip(objects, jobs)
            if whose is processor and (source == driver or is_called(source))])
            for processor in (HOST, AARCH64)}

    def compile(self, processor, source):
        made = self.folder / f"{processor.name}-{source.parent.name}-{source.stem}.o"
        subprocess.run(
            [self.clang, *processor.flags, *FLAGS, "-c", source, "-o", made], check=True)
        return made

    def link(self, processor, objects):
        driver = self.folder / f"driver-{processor.name}"
        subprocess.run(
            [self.clang, *processor.flags, *processor.link_flags, *objects, "-o", driver, "-lm",
             "-lpthread"], check=True)
        return driver
