import BackplaneHost
import BackplaneTerminal
import Foundation

/// What `swift build` prints, taken apart: how far it is, and what the compiler has to say.
struct BuildOutput: Sendable {
    enum Line: Sendable, Hashable {
        /// How far it is, such as `[3/7] Compiling Notes`: gone with the next.
        case progress(String)
        /// What it says in any case.
        case ceremony
        /// What a person has to read, as it was printed.
        case text(String)
    }

    static func line(_ text: String) -> Line {
        if text.prefixMatch(of: #/\[\d+/\d+\]/#) != nil { return .progress(text) }
        let isCeremony =
            ["Building for ", "Build complete!", "Another instance of SwiftPM "].contains(where: text.hasPrefix)
            || text.prefixMatch(of: #/Build of (product|target) '.*' complete!/#) != nil
            || text.wholeMatch(of: #/error: [a-z-]+ command failed with exit code 1 \(use -v to see invocation\)|error: fatalError/#) != nil
        return isCeremony ? .ceremony : .text(text)
    }

    /// Why nothing happens: another one builds in the same folder. SwiftPM says so in a line that it does not end.
    static func obstacle(_ text: String) -> (process: Int, folder: String)? {
        guard let match = text.prefixMatch(of: #/Another instance of SwiftPM \(PID: (\d+)\) is already running using '(.*)', waiting/#),
            let process = Int(match.1)
        else { return nil }
        return (process, String(match.2))
    }

    /// What the compiler said, each line once: it emits a module and compiles it, and says the same twice.
    var text: [String] {
        lines + (left == 0 ? [] : ["… and \(counted(left, "line")) more"])
    }
    private(set) var diagnostics: [Diagnostic] = []
    private var lines: [String] = []
    /// How many were too many to be kept.
    private var left = 0
    private var isRepeating = false
    /// As SwiftPM calls the package that is built; none: all of what it says counts.
    private let identities: Set<String>
    private var isForeign = false

    /// - Parameter package: its folder; what SwiftPM warns of in the manifests of others is left out then.
    init(of package: String? = nil) {
        // After its folder; a link may have another name than what it leads to.
        let paths = package.map { [$0, URL(filePath: $0).resolvingSymlinksInPath().path] } ?? []
        identities = Set(paths.map { FilePath.name(of: $0).lowercased() })
    }

    /// A program that is run by a build may print without end.
    private static let most = 5_000

    /// Takes a line that is no progress.
    ///
    /// - Returns: a diagnostic that it begins, where that is new.
    mutating func take(_ line: String) -> Diagnostic? {
        // The files that it is about stand below it.
        isForeign = isWarningOfAnother(line) || isForeign && line.hasPrefix("    /")
        if isForeign { return nil }
        guard lines.count < Self.most else {
            left += 1
            return nil
        }
        guard let diagnostic = Diagnostic(line) else {
            // What belongs to a diagnostic shows its source.
            isRepeating = isRepeating && line.prefixMatch(of: #/\s*\d*\s*\|/#) != nil
            if !isRepeating { lines.append(line) }
            return nil
        }
        isRepeating = diagnostics.contains(diagnostic)
        guard !isRepeating else { return nil }
        lines.append(line)
        diagnostics.append(diagnostic)
        return diagnostic
    }

    private func isWarningOfAnother(_ line: String) -> Bool {
        guard !identities.isEmpty, let match = line.prefixMatch(of: #/warning: '([^']+)': /#) else { return false }
        return !identities.contains(match.1.lowercased())
    }
}
