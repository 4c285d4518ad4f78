# Draws the diagrams of the documentation as SVG, for light and dark pages:
#
#   python3 docs/pictures/diagrams.py
#
# Each diagram is a text: `box`, `arrow`, `bar` or `note` with its place in units of a grid, then its words.
import os, xml.sax.saxutils

DIAGRAMS = {
    "layers": ("The four layers of a manager and the calls between them", 20, 11, """
        box 7 0.5 6 1.6 strong | manager | decides; others call it
        box 0.5 0.5 4.5 1.6 | another manager |
        box 2.5 4 6 1.6 strong | data access controller | keeps: files, records
        box 11.5 4 6 1.6 strong | communication controller | asks: requests, streams
        box 8.5 7.5 5.5 1.6 strong | network service v1 |
        box 14.5 7.5 5 1.6 strong | network service v2 |
        arrow 5 1.3 7 1.3
        arrow 9 2.1 6.5 4
        arrow 11 2.1 13.5 4
        arrow 13.5 5.6 12 7.5
        arrow 15.5 5.6 17 7.5
        no 11.5 4.8 8.5 4.8
        no 8.5 8 6.2 5.6
        note 0.5 10.4 | Red arrows are refused: only a manager combines what is stored with what is requested.
        """),
    "lanes": ("The two lanes of a call", 20, 8, """
        box 0.5 2.7 4 2 strong | consumer | a Swift plugin
        box 15.5 2.7 4 2 strong | provider | any plugin
        box 6 0.6 8 2 good | native lane | Swift values, same task
        box 6 4.8 8 2 | encoded lane | JSON, a task of its own
        arrow 4.5 3.3 6 1.6
        arrow 14 1.6 15.5 3.3
        arrow 4.5 4.1 6 5.8
        arrow 14 5.8 15.5 4.1
        note 0.5 7.7 | The host chooses when it connects the wire: native where both sides have provably the same layout.
        """),
    "swap": ("A swap as a time line", 20, 9.9, """
        tick 3.8 8 | prepare
        tick 9.6 8 | quiesce
        tick 11.5 8 | flip
        tick 13 8 | open
        tick 16.5 8 | commit
        note 0.3 1.9 | old code
        bar 3 1.2 6.6 1 | serves
        bar 9.6 1.2 1.9 1 faint | in flight
        bar 11.5 1.2 5 1 faint | kept for a rollback
        note 0.3 4 | new code
        bar 3.8 3.3 5.8 1 faint | loaded, created, wired
        bar 9.6 3.3 3.4 1 faint | state, activate
        bar 13 3.3 6.7 1 good | serves
        note 0.3 6.1 | calls
        bar 3 5.4 6.6 1 | to the old instance
        bar 9.6 5.4 3.4 1 bad | wait at the gate
        bar 13 5.4 6.7 1 good | to the new instance
        note 0.3 9.4 | Only calls to components with state, ports or files wait. During a probation, the old code can return.
        """),
    "load": ("The life of a load", 20, 11.1, """
        box 0.5 0.6 3.6 1.6 strong | endpoint | path, query, body
        box 5.2 0.6 4.3 1.6 | interceptors | around the load
        box 10.6 0.6 3.6 1.6 | equal requests | join one in flight
        box 15.3 0.6 4.2 1.6 | cache | fresh: done
        box 15.3 4.2 4.2 1.6 | retries, redirects | with a budget
        box 10.6 4.2 3.6 1.6 | credentials | only in the host
        box 5.2 4.2 4.3 1.6 | interceptors | around each attempt
        box 0.5 4.2 3.6 1.6 | host limits | wait for a place
        box 0.5 7.8 3.6 1.6 strong | executor | real, or a mock
        box 5.2 7.8 4.3 1.6 | body | bounded, streamed
        box 10.6 7.8 3.6 1.6 | decoder | JSON into a type
        box 15.3 7.8 4.2 1.6 good | value | or one error
        arrow 4.1 1.4 5.2 1.4
        arrow 9.5 1.4 10.6 1.4
        arrow 14.2 1.4 15.3 1.4
        arrow 17.4 2.2 17.4 4.2
        arrow 15.3 5 14.2 5
        arrow 10.6 5 9.5 5
        arrow 5.2 5 4.1 5
        arrow 2.3 5.8 2.3 7.8
        arrow 4.1 8.6 5.2 8.6
        arrow 9.5 8.6 10.6 8.6
        arrow 14.2 8.6 15.3 8.6
        note 0.5 10.6 | The plugin has the first box and the last two. The rest runs in the host, where secrets stay.
        """),
}

UNIT = 38
STYLE = """
text { font: 14px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #24292f }
.small { font-size: 12px; fill: #57606a } .name { font-weight: 600 }
rect { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.2 }
.strong { fill: #ddf4ff; stroke: #0969da } .good { fill: #dafbe1; stroke: #1a7f37 } .bad { fill: #ffebe9; stroke: #cf222e }
.faint { fill: #ffffff; stroke-dasharray: 4 3 }
path { fill: none; stroke: #57606a; stroke-width: 1.5 } .no { stroke: #cf222e; stroke-dasharray: 4 3 }
.tick { stroke-dasharray: 2 4; stroke-width: 1 }
.head { fill: #57606a; stroke: none } .no-head { fill: #cf222e; stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 }
rect { fill: #161b22; stroke: #6e7681 }
.strong { fill: #0c2d6b; stroke: #4493f8 } .good { fill: #04260f; stroke: #3fb950 } .bad { fill: #490202; stroke: #f85149 }
.faint { fill: #0d1117 } path { stroke: #9198a1 } .no { stroke: #f85149 } .head { fill: #9198a1 } .no-head { fill: #f85149 }
}"""


def text(x, y, words, style="", anchor="middle"):
    return f'<text x="{x * UNIT:g}" y="{y * UNIT:g}" class="{style}" text-anchor="{anchor}">{xml.sax.saxutils.escape(words)}</text>'


def rectangle(x, y, width, height, style):
    return f'<rect x="{x * UNIT:g}" y="{y * UNIT:g}" width="{width * UNIT:g}" height="{height * UNIT:g}" rx="6" class="{style}"/>'


def draw(line):
    head, *words = [part.strip() for part in line.split("|")]
    kind, *place = head.split()
    style = place.pop() if place[-1].isalpha() else ""
    place = [float(number) for number in place]
    if kind in ("box", "bar"):
        x, y, width, height = place
        small = words[1] if len(words) > 1 else ""
        yield rectangle(x, y, width, height, style)
        middle = y + height / 2
        yield text(x + width / 2, middle + (-0.05 if small else 0.13), words[0], "name" if kind == "box" else "")
        if small: yield text(x + width / 2, middle + 0.45, small, "small")
    elif kind in ("arrow", "no"):
        x1, y1, x2, y2 = (number * UNIT for number in place)
        path = "no" if kind == "no" else "line"
        yield f'<path d="M{x1:g} {y1:g} L{x2:g} {y2:g}" class="{path}" marker-end="url(#{kind})"/>'
    elif kind == "tick":
        x, y = place
        yield f'<path d="M{x * UNIT:g} {UNIT:g} L{x * UNIT:g} {(y - 0.5) * UNIT:g}" class="tick"/>'
        yield text(x, y, words[0], "small")
    elif kind == "note":
        yield text(*place, words[0], "small", "start")
    else:
        raise ValueError(f"unknown word in a diagram: {line}")


def diagram(title, width, height, lines):
    drawn = "\n".join(part for line in lines.strip().splitlines() for part in draw(line.strip()))
    size = f'viewBox="0 0 {width * UNIT:g} {height * UNIT:g}" width="{width * UNIT:g}" height="{height * UNIT:g}"'
    marker = '<marker id="{0}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">' \
        '<path d="M0 0 L8 4 L0 8 z" class="{1}"/></marker>'
    markers = marker.format("arrow", "head") + marker.format("no", "no-head")
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n' \
        f"<style>{STYLE}\n</style>\n<defs>{markers}</defs>\n{drawn}\n</svg>\n"


for name, parts in DIAGRAMS.items():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".svg"), "w") as file:
        file.write(diagram(*parts))
