"""The environment of the programs: .cache/programs, with exact releases of PyTorch and of the packages, and without CUDA."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".cache" / "programs"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_CUDA = re.compile(r"nvidia-|cuda-|triton$")


class WrongPackagesError(Exception):
    """The packages that pip would install contain CUDA's libraries, or another PyTorch than requirements.txt asks
    for."""


def install() -> None:
    """Creates the environment and installs requirements.txt, unless its present content is already installed.

    Raises:
        WrongPackagesError: pip would install a package of CUDA, or another release of PyTorch; nothing was installed.
        subprocess.CalledProcessError: pip failed.
    """
    stamp = ENVIRONMENT / ".installed"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    if not PYTHON.exists():
        # The environment uses the interpreter of .venv, because the extension module in the checkout was built for it.
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
    print(
        f"programs: installing {REQUIREMENTS.relative_to(ROOT)} into {ENVIRONMENT.relative_to(ROOT)}", file=sys.stderr
    )
    plan = subprocess.run([*pip, "--dry-run", "--report", "-"], check=True, capture_output=True, text=True).stdout
    _refuse_cuda([item["metadata"] for item in json.loads(plan)["install"]], wanted)
    subprocess.run(pip, check=True)
    site = subprocess.run(
        [str(PYTHON), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(site, "depyf-checkout.pth").write_text(f"{ROOT / 'python'}\n", encoding="utf-8")
    stamp.write_text(wanted, encoding="utf-8")


def _refuse_cuda(planned: list[dict[str, str]], wanted: str) -> None:
    for package in planned:
        name, version = package["name"].lower(), package["version"]
        is_other_torch = name == "torch" and f"torch=={version.partition('+')[0]}\n" not in wanted
        if _CUDA.match(name) or is_other_torch:
            raise WrongPackagesError(f"pip would install {name} {version}: point it to an index of PyTorch for the CPU")
