import BackplaneHost
import Foundation

/// The parsed output of `swift build`: progress and compiler diagnostics.
struct BuildOutput: Sendable {
    enum Line: Sendable, Hashable {
        /// A progress line, such as `[3/7] Compiling Notes`, which the next one replaces.
        case progress(String)
        /// A line that is printed by every build.
        case ceremony
        /// A line for the user, as printed.
        case text(String)
    }

    static func line(_ text: String) -> Line {
        if text.prefixMatch(of: #/\[\d+/\d+\]/#) != nil || isAboutDependencies(text) { return .progress(text) }
        let isCeremony =
            ["Building for ", "Build complete!", "Another instance of SwiftPM "].contains(where: text.hasPrefix)
            || text.prefixMatch(of: #/Build of (product|target) '.*' complete!/#) != nil
            || text.wholeMatch(
                of: #/error: [a-z-]+ command failed with exit code 1 \(use -v to see invocation\)|error: fatalError/#)
                != nil
        return isCeremony ? .ceremony : .text(text)
    }

    /// Returns whether a line reports that SwiftPM is fetching other packages, as before a first build.
    private static func isAboutDependencies(_ text: String) -> Bool {
        text.prefixMatch(
            of:
                #/(Fetch(ing|ed)|Updat(ing|ed)|Comput(ing version for|ed)|Creating working copy (for|of)|Working copy of|Resolving|Download(ing|ed)) \S+/#
        ) != nil
    }

    /// Returns the process for which this build waits, because it builds in the same folder.
    ///
    /// SwiftPM reports it on a line without a terminator.
    static func obstacle(_ text: String) -> (process: Int, folder: String)? {
        guard
            let match = text.prefixMatch(
                of: #/Another instance of SwiftPM \(PID: (\d+)\) is already running using '(.*)', waiting/#),
            let process = Int(match.1)
        else { return nil }
        return (process, String(match.2))
    }

    /// The compiler's output without repeated diagnostics.
    ///
    /// The compiler reports some diagnostics twice: when it emits a module and when it compiles it.
    var text: [String] {
        lines + (left == 0 ? [] : ["… and \(counted(left, "line")) more"])
    }
    private(set) var diagnostics: [Diagnostic] = []
    private var lines: [String] = []
    /// The number of lines dropped because of the limit.
    private var left = 0
    private var isRepeating = false
    /// The names that SwiftPM may use for the package; if empty, warnings about all packages are kept.
    private let identities: Set<String>
    private var isForeign = false
    /// The diagnostics of other builds that the user has seen.
    private let known: Set<Diagnostic>

    /// Creates the parser of a build's output.
    ///
    /// - Parameters:
    ///   - package: The folder of the package; SwiftPM's warnings about the manifests of other packages are dropped.
    ///   - known: The diagnostics that are dropped, because the user has seen them.
    init(of package: String? = nil, known: Set<Diagnostic> = []) {
        self.known = known
        // SwiftPM names a package after its folder, and a symbolic link may be named differently from its target.
        let paths = package.map { [$0, URL(filePath: $0).resolvingSymlinksInPath().path] } ?? []
        identities = Set(paths.map { FilePath.name(of: $0).lowercased() })
    }

    /// The maximum number of lines, because programs that run during a build can print endlessly.
    private static let most = 5_000

    /// Parses a line that is not a progress line.
    ///
    /// - Returns: The diagnostic that begins with the line, if it is a new one.
    mutating func take(_ line: String) -> Diagnostic? {
        // The lines below a warning list the files it is about.
        isForeign = isWarningOfAnother(line) || isForeign && line.hasPrefix("    /")
        if isForeign { return nil }
        guard lines.count < Self.most else {
            left += 1
            return nil
        }
        guard let diagnostic = Diagnostic(line) else {
            // Lines that quote source, or list files, belong to the diagnostic above them.
            isRepeating =
                isRepeating && (line.prefixMatch(of: #/\s*\d*\s*\|/#) != nil || line.hasPrefix("    /"))
            if !isRepeating { lines.append(line) }
            return nil
        }
        isRepeating = known.contains(diagnostic) || diagnostics.contains(diagnostic)
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
