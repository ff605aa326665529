"""Draws the six pictures of the battery naming-demo: few shapes, black and grey on white.

    .venv/bin/python docs/pictures/naming_demo.py [--sheet sheet.png]

They must be known at once as half-blocks of 24 x 12 cells too, so nothing that matters is thinner
than a twentieth of the picture. ``--sheet`` sets each beside itself as it looks that small. Needs
the development packages (resvg-py), and Pillow for the sheet.
"""

from __future__ import annotations

import argparse
from pathlib import Path

OUT = Path(__file__).parents[2] / "batteries" / "naming-demo"
SIDE = 480
SMALL = (24, 24)
"""Pixels of 24 x 12 cells: a cell shows two, one above the other."""
BLACK, GREY, LIGHT, WHITE = "#000000", "#6f6f6f", "#c4c4c4", "#ffffff"

BED = f"""
<rect x="24" y="120" width="44" height="290" fill="{BLACK}"/>
<rect x="412" y="210" width="44" height="200" fill="{BLACK}"/>
<rect x="68" y="300" width="344" height="56" fill="{BLACK}"/>
<rect x="68" y="222" width="344" height="78" fill="{WHITE}" stroke="{BLACK}" stroke-width="14"/>
<path d="M190 200 H404 V300 H190 Z" fill="{GREY}" stroke="{BLACK}" stroke-width="14"/>
<rect x="80" y="168" width="104" height="66" rx="30" fill="{WHITE}" stroke="{BLACK}"
      stroke-width="16"/>
"""

BIRD = f"""
<path d="M214 352 V428 M270 352 V428 M178 432 H300" stroke="{BLACK}" stroke-width="18"
      fill="none"/>
<path d="M108 280 L16 206 L28 330 Z" fill="{BLACK}"/>
<ellipse cx="236" cy="276" rx="142" ry="98" fill="{BLACK}"/>
<circle cx="344" cy="160" r="78" fill="{BLACK}"/>
<path d="M404 130 L470 168 L404 192 Z" fill="{GREY}"/>
<circle cx="360" cy="142" r="19" fill="{WHITE}"/>
<path d="M148 236 Q226 216 292 262 Q236 340 132 312 Z" fill="{LIGHT}"/>
"""

CAT = f"""
<path d="M320 424 Q470 424 440 300 Q426 250 398 262" fill="none" stroke="{BLACK}"
      stroke-width="34" stroke-linecap="round"/>
<path d="M136 442 Q120 262 216 238 Q330 250 334 442 Z" fill="{BLACK}"/>
<path d="M112 36 L108 180 L200 96 Z" fill="{BLACK}"/>
<path d="M322 36 L326 180 L236 96 Z" fill="{BLACK}"/>
<ellipse cx="217" cy="160" rx="118" ry="96" fill="{BLACK}"/>
<ellipse cx="172" cy="146" rx="24" ry="20" fill="{WHITE}"/>
<ellipse cx="262" cy="146" rx="24" ry="20" fill="{WHITE}"/>
<ellipse cx="172" cy="146" rx="7" ry="18" fill="{BLACK}"/>
<ellipse cx="262" cy="146" rx="7" ry="18" fill="{BLACK}"/>
<path d="M200 186 H234 L217 206 Z" fill="{WHITE}"/>
<path d="M134 200 L30 184 M134 214 L34 230 M300 200 L404 184 M300 214 L400 230" stroke="{GREY}"
      stroke-width="10"/>
<path d="M217 330 V436" stroke="{WHITE}" stroke-width="12"/>
<path d="M150 444 H210 M226 444 H290" stroke="{BLACK}" stroke-width="26" stroke-linecap="round"/>
"""

DOG = f"""
<path d="M88 250 Q30 214 36 128" fill="none" stroke="{BLACK}" stroke-width="30"
      stroke-linecap="round"/>
<rect x="70" y="222" width="256" height="116" rx="50" fill="{BLACK}"/>
<path d="M78 290 H136 L124 440 H84 Z M146 300 H190 L182 440 H146 Z" fill="{BLACK}"/>
<path d="M244 300 H288 L284 440 H248 Z M296 290 H336 L336 440 H298 Z" fill="{BLACK}"/>
<path d="M236 250 L272 120 L366 150 L340 300 Z" fill="{BLACK}"/>
<path d="M262 66 H372 L464 128 Q474 176 430 180 L366 184 Q300 200 262 160 Z" fill="{BLACK}"/>
<path d="M262 70 Q312 60 322 112 Q326 186 288 206 Q244 190 246 118 Z" fill="{GREY}"
      stroke="{WHITE}" stroke-width="10"/>
<circle cx="368" cy="104" r="13" fill="{WHITE}"/>
<path d="M404 180 Q400 226 424 226 Q442 222 436 178 Z" fill="{GREY}"/>
<path d="M246 262 L344 282" stroke="{WHITE}" stroke-width="18"/>
"""

HOUSE = f"""
<rect x="332" y="60" width="54" height="120" fill="{BLACK}"/>
<rect x="84" y="216" width="312" height="226" fill="{WHITE}" stroke="{BLACK}" stroke-width="20"/>
<path d="M240 34 L460 232 H20 Z" fill="{GREY}" stroke="{BLACK}" stroke-width="20"
      stroke-linejoin="round"/>
<rect x="270" y="296" width="82" height="146" fill="{BLACK}"/>
<circle cx="288" cy="372" r="8" fill="{WHITE}"/>
<rect x="126" y="284" width="98" height="88" fill="{LIGHT}" stroke="{BLACK}" stroke-width="16"/>
<path d="M175 284 V372 M126 328 H224" stroke="{BLACK}" stroke-width="12"/>
"""

TREE = f"""
<path d="M206 270 H274 L286 448 H194 Z" fill="{BLACK}"/>
<path d="M240 300 L140 232 M240 290 L338 226" stroke="{BLACK}" stroke-width="26"/>
<g fill="{GREY}" stroke="{BLACK}" stroke-width="30">
<circle cx="138" cy="200" r="84"/><circle cx="342" cy="200" r="84"/>
<circle cx="240" cy="128" r="98"/><circle cx="240" cy="216" r="84"/>
</g>
<g fill="{GREY}">
<circle cx="138" cy="200" r="74"/><circle cx="342" cy="200" r="74"/>
<circle cx="240" cy="128" r="88"/><circle cx="240" cy="216" r="74"/>
</g>
<path d="M40 448 H440" stroke="{BLACK}" stroke-width="16"/>
"""

PICTURES = {"bed": BED, "bird": BIRD, "cat": CAT, "dog": DOG, "house": HOUSE, "tree": TREE}


def svg(shapes: str) -> str:
    """A whole drawing on white."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE}" height="{SIDE}">'
    return f'{head}<rect width="{SIDE}" height="{SIDE}" fill="{WHITE}"/>{shapes}</svg>'


def sheet(path: Path) -> None:
    """Every picture, and below it the same as 24 x 12 cells and as 48 x 24 pixels show it."""
    from PIL import Image

    made = Image.new("RGB", (SIDE // 2 * len(PICTURES), SIDE // 2 * 3), "white")
    for column, name in enumerate(PICTURES):
        picture = Image.open(OUT / f"{name}.png").convert("RGB")
        half = (SIDE // 2, SIDE // 2)
        place = column * SIDE // 2
        made.paste(picture.resize(half), (place, 0))
        for row, size in enumerate((SMALL, (48, 24)), start=1):
            small = picture.resize(size, Image.Resampling.BOX)
            made.paste(small.resize(half, Image.Resampling.NEAREST), (place, row * SIDE // 2))
    made.save(path)


def main() -> None:
    """Draw them all."""
    import resvg_py

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sheet", type=Path)
    given = arguments.parse_args()
    OUT.mkdir(exist_ok=True)
    for name, shapes in PICTURES.items():
        png = bytes(resvg_py.svg_to_bytes(svg_string=svg(shapes)))
        (OUT / f"{name}.png").write_bytes(png)
        print(f"{name}.png: {len(png):,} bytes")
    if given.sheet:
        sheet(given.sheet)


if __name__ == "__main__":
    main()
