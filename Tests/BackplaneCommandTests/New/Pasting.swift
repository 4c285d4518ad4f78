import Foundation
import Testing

/// Somebody who pastes the lines that `backplane new` prints into the files that it names.
struct Pasting {
    private let sections: [(file: String, place: String, owner: String?, lines: String)]

    /// - Parameter printed: what it has printed.
    init(_ printed: String) {
        sections = printed.matches(of: /paste into (.+), at the top of `(.+?)`(?: of `(.+?)`)?:\n((?: {8}.*\n)+)/).map {
            match in
            (String(match.output.1), String(match.output.2), match.output.3.map(String.init), String(match.output.4))
        }
    }

    var count: Int { sections.count }

    /// Pastes all of them.
    ///
    /// - Parameter folder: what paths are taken from.
    func paste(in folder: String) throws {
        // From below, so that no line that was pasted is taken for a place.
        for section in sections.reversed() {
            let file = URL(filePath: section.file, relativeTo: URL(filePath: folder + "/"))
            var text = try String(contentsOf: file, encoding: .utf8)
            let places =
                switch (section.place, section.owner) {
                case ("register(in:)", _): ["func register\\(in [^{]*\\{"]
                case (let list, let owner?): ["name: \"\(owner)\",\\s*\(list): \\["]
                // In this package, targets of plugins stand in a list of their own.
                case ("targets", nil) where text.contains("let example: [Target] = ["):
                    ["let example: \\[Target\\] = \\["]
                // The package's own, which stands further out than those of its products.
                case (let list, nil): ["\n    \(list): \\[", "\\b\(list): \\["]
                }
            let place = try places.lazy.compactMap { try text.firstMatch(of: Regex($0))?.range.upperBound }.first
            let end = try #require(place, "\(section.file) has no \(section.place)")
            text.replaceSubrange(end..<end, with: "\n" + section.lines.dropLast())
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }
}
