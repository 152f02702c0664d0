#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A screen of a terminal as a picture (SVG), character cell by character cell.

    docs/screenshot CAPTURE.kdefer 100x32 [KEYS...] > docs/top.svg

is what uses it; by hand: tmux capture-pane -pe | docs/screenshot.py COLUMNS > PICTURE"""
import re
import sys
from xml.sax.saxutils import escape

CELL_W, CELL_H, SIZE, PAD = 8, 17, 13, 10
INK, PAPER = "#d0d4d8", "#14181c"
BASIC = ["#14181c", "#f2605c", "#62c073", "#e6c34c", "#4f8fe6", "#c57be0", "#4cc0c8", "#d0d4d8"]


def colour(n):
    """One of the 256."""
    if n < 16:
        return BASIC[n % 8]
    if n >= 232:
        return "#" + "%02x" % (8 + 10 * (n - 232)) * 3
    levels = [0, 95, 135, 175, 215, 255]
    n -= 16
    return "#%02x%02x%02x" % (levels[n // 36], levels[n // 6 % 6], levels[n % 6])


class Style:
    def __init__(self):
        self.fg = self.bg = None
        self.bold = self.dim = self.reverse = False

    def take(self, codes):
        codes = [int(c or 0) for c in codes.split(";")]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.__init__()
            elif c in (38, 48) and codes[:1] == [5]:
                setattr(self, "fg" if c == 38 else "bg", colour(codes[1]))
                del codes[:2]
            elif 30 <= c <= 37:
                self.fg = BASIC[c - 30]
            elif 40 <= c <= 47:
                self.bg = BASIC[c - 40]
            elif c in (1, 2, 7, 22, 27, 39, 49):
                self.bold = c == 1 or (self.bold and c != 22)
                self.dim = c == 2 or (self.dim and c != 22)
                self.reverse = c == 7 or (self.reverse and c != 27)
                self.fg = None if c == 39 else self.fg
                self.bg = None if c == 49 else self.bg

    def now(self):
        fg, bg = self.fg or INK, self.bg
        if self.reverse:
            fg, bg = bg or PAPER, fg
        return fg, bg, self.bold, self.dim


def cells(line, style):
    """(character, style) for each. What is set goes on in the next line."""
    for codes, char in re.findall(r"\x1b\[([0-9;]*)m|(\x1b\([AB0]|\x0f|.)", line):
        if not char:
            style.take(codes)
        elif char[0] not in "\x1b\x0f":
            yield char, style.now()


def block(char, x, y, fg):
    """Characters that are areas."""
    n = ord(char)
    if 0x2581 <= n <= 0x2588:
        height = CELL_H * (n - 0x2580) / 8
        return rect(x, y + CELL_H - height, CELL_W, height, fg)
    return rect(x, y, CELL_W, CELL_H, fg, (n - 0x2590) / 4)


def rect(x, y, w, h, fill, opacity=1.0):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"%s/>' % (
        x, y, w + .1, h + .1, fill, "" if opacity == 1 else ' opacity="%.2f"' % opacity)


def text(run, x, y, style):
    fg, _, bold, dim = style
    return ('<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s%s>%s</text>'
            % (x, y + SIZE - 1, len(run) * CELL_W, fg, ' font-weight="bold"' if bold else "",
               ' opacity="0.6"' if dim else "", escape(run)))


def draw_line(line, y, style):
    out, ink, run, start, last, paper = [], [], "", 0, None, (PAD, None)

    def ground():
        if paper[1]:
            out.append(rect(paper[0], y, x - paper[0], CELL_H, paper[1]))

    def flush():
        if run.strip():
            lead = len(run) - len(run.lstrip())
            ink.append(text(run.strip(), start + lead * CELL_W, y, last))

    x = PAD
    for char, look in cells(line, style):
        area = 0x2580 < ord(char) <= 0x2593
        if look[1] != paper[1]:
            ground()
            paper = (x, look[1])
        # A gap ends a run, so that columns stay where they are whatever the font.
        if area or look != last or run.endswith("  "):
            flush()
            run, start, last = "", x, look
        if area:
            ink.append(block(char, x, y, look[0]))
            last = None
        else:
            run += char
        x += CELL_W
    ground()
    flush()
    return out + ink


def main():
    columns = int(sys.argv[1])
    lines = sys.stdin.read().rstrip("\n").split("\n")
    width, height = columns * CELL_W + 2 * PAD, len(lines) * CELL_H + 2 * PAD
    print('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
          'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="%d" xml:space="preserve">'
          % (width, height, width, height, SIZE))
    print(rect(0, 0, width, height, PAPER))
    style = Style()
    for i, line in enumerate(lines):
        print("\n".join(draw_line(line, PAD + i * CELL_H, style)))
    print("</svg>")


main()
