"""Builds the Python package: the C library by make, with zlib, lzma and utf8proc inside, and the shipped models.

What is not said here is in pyproject.toml. The library is reached by ctypes, so one wheel serves every Python of a
platform.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1 it was a package of its own
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
# A library that was built before, for another CPU, is named by ORDERNET_LIBRARY (make wheel-aarch64).
LIBRARY = os.environ.get("ORDERNET_LIBRARY", "build/python/libordernet.so")


def version() -> str:
    header = (ROOT / "include/ordernet.h").read_text()
    return ".".join(re.search(rf"#define ONET_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if "ORDERNET_LIBRARY" not in os.environ:
            subprocess.run(["make", f"-j{os.cpu_count() or 1}", "--no-print-directory", LIBRARY], cwd=ROOT, check=True)
        package = Path(self.build_lib) / "ordernet"
        (package / "models").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / LIBRARY, package / "libordernet.so")
        for model in ("pages", "tours", "tsp", "words"):
            shutil.copy(ROOT / f"models/{model}.safetensors", package / "models")
            shutil.copy(ROOT / f"models/{model}.md", package / "models")
        # The notices of the libraries inside, as Debian has them.
        for name, debian in (("zlib", "zlib1g-dev"), ("liblzma", "liblzma-dev"), ("utf8proc", "libutf8proc-dev")):
            notice = Path("/usr/share/doc", debian, "copyright")
            if notice.exists():
                (package / "licences").mkdir(exist_ok=True)
                shutil.copy(notice, package / "licences" / f"{name}.txt")


class PlatformDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", platform_tag() or super().get_tag()[2])


def platform_tag() -> str:
    """manylinux_2_N_CPU: the library needs glibc 2.N, the newest version among the symbols that it uses, or a newer one."""
    try:
        said = subprocess.run(["readelf", "-hVW", str(ROOT / LIBRARY)], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    versions = [int(n) for n in re.findall(r"Name: GLIBC_2\.(\d+)", said)]
    cpu = "aarch64" if "AArch64" in said else "x86_64" if "X86-64" in said else ""
    return f"manylinux_2_{max(versions)}_{cpu}" if versions and cpu else ""


setup(
    version=version(),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
)
