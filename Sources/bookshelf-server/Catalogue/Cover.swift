#if Engines
import Crypto

/// A cover generated from a book's metadata; deterministic for each book.
struct Cover {
    var book: Book

    /// The cover as an SVG image of 400 by 600 units.
    var svg: String {
        let hash = Array(SHA256.hash(data: Array(book.id.utf8)))
        let hue = (Int(hash[0]) << 8 | Int(hash[1])) % 360
        let accent = (hue + 120 + Int(hash[2]) % 120) % 360
        let titles = Self.lines(book.title, width: 16, atMost: 7)
        let authors = book.authors.flatMap { Self.lines($0.name, width: 24, atMost: 2) }.prefix(4)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="400" height="600" viewBox="0 0 400 600" role="img">
            <title>\(Self.escaped(book.title))</title>
            <rect width="400" height="600" fill="hsl(\(hue), 45%, 28%)"/>
            <circle cx="\(40 + Int(hash[3]) * 320 / 255)" cy="470" r="\(60 + Int(hash[4]) % 60)" fill="hsl(\(accent), 50%, 52%)" opacity="0.55"/>
            <rect x="24" y="24" width="352" height="552" fill="none" stroke="hsl(\(accent), 60%, 75%)" stroke-width="3"/>
            \(Self.text(titles, size: 38, from: 110, leading: 46, weight: "bold"))
            \(Self.text(Array(authors), size: 22, from: 560 - 28 * authors.count, leading: 28, weight: "normal"))
            </svg>

            """
    }

    private static func text(_ lines: [String], size: Int, from top: Int, leading: Int, weight: String) -> String {
        let spans = lines.enumerated().map { number, line in
            #"<tspan x="200" y="\#(top + number * leading)">\#(escaped(line))</tspan>"#
        }
        return """
            <text fill="hsl(45, 60%, 94%)" font-family="serif" font-size="\(size)" font-weight="\(weight)" text-anchor="middle">\
            \(spans.joined())</text>
            """
    }

    /// Breaks a string at spaces into lines, and ends the last line with an ellipsis if the string does not fit.
    ///
    /// A word longer than `width` characters has its own line.
    static func lines(_ text: String, width: Int, atMost limit: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        guard lines.count > limit else { return lines }
        return lines.prefix(limit - 1) + ["\(lines[limit - 1]) …"]
    }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
    }
}
#endif
