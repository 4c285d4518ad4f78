import BackplaneHost
import Glibc

/// Which names of files and folders are meant: those that fit one of some shell patterns, such as `lib*.so`.
struct NamePatterns: Sendable, Hashable, ExpressibleByArrayLiteral {
    let patterns: [String]

    init(_ patterns: [String]) { self.patterns = patterns }

    init(arrayLiteral patterns: String...) { self.init(patterns) }

    /// Every name.
    static let all: NamePatterns = ["*"]
    static let libraries: NamePatterns = ["lib*.so"]
    /// What is hidden, as build folders and repositories are, and what editors leave beside a file: `4913` is Vim's, to try whether it may
    /// write there.
    static let hiddenAndLeftovers: NamePatterns = [".*", "*~", "#*#", "4913"]

    func contains(_ name: RawPath) -> Bool {
        patterns.contains { pattern in name.withCString { fnmatch(pattern, $0, 0) == 0 } }
    }
}
