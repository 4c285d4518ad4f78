# Draws what a program printed at a terminal, colours and all, as SVG. Lines appear when they did: those that begin with a time of day tell.
#
#   LC_ALL=C awk -v title='backplane dev' -v columns=120 -f terminal.awk recorded.txt > picture.svg

BEGIN {
    width = 7.8; height = 19; left = 18; top = 54; escape = sprintf("%c", 27)
    colours["1"] = "bold"; colours["2"] = "faint"; colours["31"] = "bad"; colours["32"] = "good"; colours["33"] = "doubtful"; colours["7"] = "focused"
}

{
    gsub(/\r$/, "")
    # Of a line that was overwritten the last is what stays.
    sub(/.*\r/, "")
    gsub(escape "\\[K", "")
    if ($0 == "" && count == 0) next
    plain = $0
    gsub(escape "\\[[0-9;]*m", "", plain)
    if (match(plain, /^[0-9][0-9]:[0-9][0-9]:[0-9][0-9] /)) {
        split(substr(plain, 1, 8), parts, ":")
        now = parts[1] * 3600 + parts[2] * 60 + parts[3]
        if (count == 0) first = now
        if (now < first) now += 86400
    }
    lines[++count] = $0
    times[count] = count == 1 ? 0 : now - first
}

function quoted(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
    return text
}

# In characters: of one in UTF-8 every byte but the first is one that goes on.
function width_of(text) {
    gsub(/[\200-\277]/, "", text)
    return length(text)
}

function cut(text, count) {
    while (width_of(text) > count || text ~ /[\300-\377]$/) text = substr(text, 1, length(text) - 1)
    return text
}

# What follows codes such as `0;1`: the last one counts, and those that are not drawn change nothing.
function look(kind, codes,    parts, count, i) {
    count = split(codes, parts, ";")
    if (count == 0) return ""
    for (i = 1; i <= count; i++) if (parts[i] == "0") kind = ""; else if (parts[i] in colours) kind = parts[i]
    return kind
}

# A line as spans, cut where the picture ends.
function spans(line,    result, text, kind, room) {
    result = ""; kind = ""; room = columns
    while (line != "" && room > 0) {
        if (match(line, escape "\\[[0-9;]*m") == 1) {
            kind = look(kind, substr(line, 3, RLENGTH - 3))
            line = substr(line, RLENGTH + 1)
            continue
        }
        text = RSTART > 1 ? substr(line, 1, RSTART - 1) : line
        line = substr(line, length(text) + 1)
        if (width_of(text) > room) text = cut(text, room - 1) "…"
        room -= width_of(text)
        result = result (kind in colours ? "<tspan class=\"" colours[kind] "\">" quoted(text) "</tspan>" : quoted(text))
    }
    return result
}

END {
    w = columns * width + 2 * left; h = top + count * height + 10
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n", w, h, w, h, quoted(title)
    print "<style>"
    print "text { font: 13px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d8dee9; white-space: pre }"
    print ".bold { font-weight: bold; fill: #eceff4 } .faint { fill: #7b88a1 } .bad { fill: #e06c75 } .good { fill: #98c379 } .doubtful { fill: #e5c07b } .focused { fill: #88c0d0; text-decoration: underline }"
    print "@keyframes appear { from { opacity: 0 } to { opacity: 1 } } .line { animation: appear 0.2s backwards }"
    print "@media (prefers-reduced-motion: reduce) { .line { animation: none } }"
    print "</style>"
    printf "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#20242c\"/>\n", w, h
    print "<circle cx=\"20\" cy=\"20\" r=\"6\" fill=\"#e06c75\"/><circle cx=\"40\" cy=\"20\" r=\"6\" fill=\"#e5c07b\"/><circle cx=\"60\" cy=\"20\" r=\"6\" fill=\"#98c379\"/>"
    printf "<text x=\"%d\" y=\"24\" text-anchor=\"middle\" class=\"faint\">%s</text>\n", w / 2, quoted(title)
    for (i = 1; i <= count; i++)
        printf "<text class=\"line\" xml:space=\"preserve\" style=\"animation-delay: %.1fs\" x=\"%d\" y=\"%d\">%s</text>\n", times[i] * 0.6, left, top + (i - 1) * height, spans(lines[i])
    print "</svg>"
}
