"""README's sheet of photos: where it is, and the sizes of its cells in pixels."""

from retint_tool import ROOT

PATH = ROOT / "Sources/Retint/Retint/Retint.docc/Resources/colorized.jpg"
ROWS, WIDTH, HEIGHT, GAP, TITLE = 8, 300, 190, 6, 26
