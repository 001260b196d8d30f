"""Compares each view of the page with a stored picture, light and dark, 1280 and 1920 wide; `make screenshots` renews
the pictures.

The page shows a recorded run, so that only changes of the viewer change a picture. The pictures have half of the page's
size and few colours, so that their files are small.
"""

from __future__ import annotations

import base64
import os
import struct
import tarfile
import zlib
from pathlib import Path
from typing import Any

import pytest

import page_programs

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden"
RENEW = bool(os.environ.get("DEPYF_RENEW_SCREENSHOTS"))
DIFFERENT_MAX = 0.005  # the share of pixels that may differ, for example at the edges of letters
LEVELS = 6  # the number of levels of red, green and blue in a picture

# Maps a view to (the page, the address in it).
VIEWS = {
    "verdict": ("run", "view=verdict"),
    "source": ("run", "view=source"),
    "explorer": ("run", "c=0/0&panes=source,captured,kernel&pane=source&line=12"),
    "backward": ("run", "c=0/0&panes=source,fw,bw&pane=source&line=12"),
    "flow": ("run", "view=flow"),
    "recompilations": ("run", "view=recompilations"),
    "guards": ("run", "view=guards"),
    "fusion": ("run", "view=fusion"),
    "modules": ("run", "view=modules"),
    "difference": ("run", "view=difference&c=0/1"),
    "timeline": ("both", "view=timeline"),
    "ranks": ("both", "view=ranks"),
}

# A JavaScript function that returns the size and the pixels of a PNG, with each colour rounded to one of a few levels.
PIXELS = """async ([png, levels]) => {
  const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
  let text = "";
  for (let at = 0; at < data.length; at += 4) {
    let index = 0;
    for (let colour = 0; colour < 3; colour += 1) index = index * levels + Math.round((data[at + colour] * (levels - 1)) / 255);
    text += String.fromCharCode(index);
  }
  return [bitmap.width, bitmap.height, btoa(text)];
}"""


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_of(width: int, height: int, indices: bytes) -> bytes:
    """Returns a PNG with a palette of LEVELS levels of each colour."""
    shades = [round(255 * level / (LEVELS - 1)) for level in range(LEVELS)]
    palette = bytes(shade for red in shades for green in shades for blue in shades for shade in (red, green, blue))
    rows = b"".join(b"\0" + indices[row * width : (row + 1) * width] for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"PLTE", palette)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def indices_of(png: bytes) -> tuple[int, int, bytes]:
    """Returns (width, height, pixels) of a PNG that `png_of` wrote."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    (size,) = struct.unpack(">I", png[start - 4 : start])
    rows = zlib.decompress(png[start + 4 : start + 4 + size])
    return width, height, b"".join(rows[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height))


def different(first: tuple[int, int, bytes], second: tuple[int, int, bytes]) -> float:
    """Returns the share of pixels in which a colour differs by more than one level; 1.0 if the sizes differ."""
    if first[:2] != second[:2]:
        return 1.0
    count = 0
    for one, two in zip(first[2], second[2], strict=True):
        if one != two:
            pairs = ((one // unit % LEVELS, two // unit % LEVELS) for unit in (1, LEVELS, LEVELS * LEVELS))
            count += any(abs(a - b) > 1 for a, b in pairs)
    return count / len(first[2])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("run")
    with tarfile.open(GOLDEN / "train.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    session = folder / "dump" / "session.json"
    session.write_text(session.read_text().replace("WORKING_DIRECTORY", str(folder)))
    # The log of a second process, which died before its end.
    log = (folder / "trace.log").read_bytes()
    (folder / "other.log").write_bytes(log[: len(log) * 2 // 3])
    inputs = {"run": ["dump"], "both": ["trace.log", "other.log"]}
    paths = {}
    for name, items in inputs.items():
        html = page_programs.write_page(folder / f"{name}.html", *(folder / item for item in items))
        # The page contains the command and the folder, which differ between runs.
        paths[name] = folder / f"{name}.html"
        assert len(html) < 1_500_000
    return paths


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_looks_as_it_did(pages: dict[str, Path], browser: Any, tmp_path: Path, view: str) -> None:
    version = (GOLDEN / "chromium.txt").read_text().strip() if (GOLDEN / "chromium.txt").exists() else ""
    if RENEW:
        (GOLDEN / "chromium.txt").write_text(f"{browser.version}\n")
    elif version != browser.version:
        pytest.skip(f"the pictures were made by Chromium {version}, and this is {browser.version}: make screenshots")
    context = browser.new_context(offline=True, device_scale_factor=0.5)
    page = context.new_page()
    reader = context.new_page()
    path, address = pages[VIEWS[view][0]], VIEWS[view][1]
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": width * 9 // 16})
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#{address}")
        page.wait_for_selector("main > *")
        # Texts that differ from run to run are no part of the picture.
        page.evaluate(
            "(folder) => { for (const part of document.querySelectorAll('footer, small')) "
            "if (part.tagName === 'FOOTER' || part.textContent.includes(folder)) part.style.visibility = 'hidden'; }",
            str(path.parent),
        )
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            picture = base64.b64encode(page.screenshot(animations="disabled", caret="hide")).decode()
            columns, rows, text = reader.evaluate(PIXELS, [picture, LEVELS])
            shown = (columns, rows, base64.b64decode(text))
            golden = GOLDEN / f"{view}_{scheme}_{width}.png"
            if RENEW:
                golden.write_bytes(png_of(*shown))
                continue
            share = different(shown, indices_of(golden.read_bytes()))
            if share > DIFFERENT_MAX:
                (tmp_path / golden.name).write_bytes(png_of(*shown))
            assert share <= DIFFERENT_MAX, f"{tmp_path / golden.name} differs from {golden}: {share:.1%} of the pixels"
    context.close()


def test_the_pictures_are_small() -> None:
    pictures = list(GOLDEN.glob("*.png"))
    assert len(pictures) == 4 * len(VIEWS)
    assert sum(path.stat().st_size for path in pictures) < 1_500_000
