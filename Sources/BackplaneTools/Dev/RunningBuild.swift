import Backplane
import BackplaneHost
import Foundation
import Glibc
import Synchronization

/// A build of one product in progress.
final class RunningBuild {
    enum News: Sendable {
        case progress(String)
        /// Another process builds in the same folder, and this build waits for it.
        case waiting(process: Int, folder: String)
        /// A diagnostic that has not been reported before.
        case diagnostic(Diagnostic)
        case ended(ChildProcess.Ending)
    }
    let product: DevPackage.Product
    /// The time at which the build started, in seconds since 1970.
    let began = Date().timeIntervalSince1970
    let before: ProductStamp
    private(set) var isCancelled = false
    var hasCome = false
    private let listener: Listener
    private let process: ChildProcess

    /// Starts a build.
    ///
    /// - Parameters:
    ///   - last: The package that was built before this one.
    ///   - known: The diagnostics that the user has seen, which are not reported again.
    ///   - tell: A function that receives the events of the build, on any thread.
    /// - Throws: `BackplaneError` if the process cannot be started.
    init(
        _ product: DevPackage.Product, after last: String?, known: Set<Diagnostic>, with swiftPM: SwiftPM,
        _ tell: @escaping @Sendable (News) -> Void
    ) throws(BackplaneError) {
        self.product = product
        before = ProductStamp(library: product.library, resources: product.resources)
        let listener = Listener(of: product.package, known: known)
        self.listener = listener
        let outlets = [STDOUT_FILENO, STDERR_FILENO].map { descriptor in
            ChildProcess.Outlet(descriptor: descriptor) { line in
                if let obstacle = BuildOutput.obstacle(line) {
                    tell(.waiting(process: obstacle.process, folder: obstacle.folder))
                }
            } take: { line in
                if let news = listener.take(line) { tell(news) }
            }
        }
        process = try ChildProcess("swift", swiftPM.build(product, after: last), outlets: outlets) { tell(.ended($0)) }
    }

    /// The compiler's output, in lines.
    var text: [String] { listener.text }
    var diagnostics: [Diagnostic] { listener.diagnostics }

    /// Asks SwiftPM to stop, and kills it if it does not stop in time.
    func cancel() {
        isCancelled = true
        process.stop(patience: Self.patience)
    }

    /// The time within which SwiftPM must stop, in tenths of a second.
    private static let patience = 50

    func end(_ ending: ChildProcess.Ending) -> DevLoop.BuildEnd {
        ending == .exit(0) ? .succeeded : isCancelled ? .cancelled : .failed
    }
}

/// The parsed output of a build so far; parsing on the reading thread slows down a build with excessive output.
private final class Listener: Sendable {
    private let output: Mutex<BuildOutput>

    init(of package: String, known: Set<Diagnostic>) { output = Mutex(BuildOutput(of: package, known: known)) }

    var text: [String] { output.withLock(\.text) }
    var diagnostics: [Diagnostic] { output.withLock(\.diagnostics) }

    func take(_ line: String) -> RunningBuild.News? {
        switch BuildOutput.line(line) {
        case .progress(let text): .progress(text)
        case .ceremony: nil
        case .text(let text): output.withLock { $0.take(text) }.map(RunningBuild.News.diagnostic)
        }
    }
}

/// The parsed output of `swift build`: progress and compiler diagnostics.
struct BuildOutput: Sendable {
    enum Line: Sendable, Hashable {
        /// A progress line, such as `[3/7] Compiling Notes`, which the next progress line replaces.
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
        // The lines below a warning list the files that it concerns.
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

/// A compiler diagnostic.
struct Diagnostic: Codable, Sendable, Hashable {
    /// The severity: `error`, `warning` or `note`.
    var severity: String
    /// The absolute path of the source file, or `nil` if the diagnostic concerns none.
    var file: String?
    var line: Int?
    var column: Int?
    var message: String

    /// Parses the first line of a diagnostic; returns `nil` for any other line.
    init?(_ text: String) {
        if let match = text.wholeMatch(of: /(\/.*?):(\d+):(\d+): (error|warning|note): (.*)/) {
            (file, line, column) = (String(match.1), Int(match.2), Int(match.3))
            (severity, message) = (String(match.4), String(match.5))
        } else if let match = text.wholeMatch(of: /(?:<unknown>:0: )?(error|warning): (.*)/) {
            (severity, message) = (String(match.1), String(match.2))
        } else {
            return nil
        }
    }
}

/// The diagnostics that the user has seen, so that builds of several products report each of them once.
struct ToldDiagnostics: Sendable {
    /// The warnings of the package manager, which are identical in every build until a Package.swift changes.
    private var lasting: Set<Diagnostic> = []
    private var ofRound: Set<Diagnostic> = []
    private var products: Set<String> = []

    var all: Set<Diagnostic> { lasting.union(ofRound) }

    /// Records that a product is being built; a second build of a product begins a new round.
    mutating func begin(_ product: String) {
        guard !products.insert(product).inserted else { return }
        (products, ofRound) = ([product], [])
    }

    /// Adds the diagnostics that a build has reported.
    mutating func add(_ diagnostics: [Diagnostic]) {
        ofRound.formUnion(diagnostics)
        lasting.formUnion(diagnostics.filter { $0.file == nil && $0.severity == "warning" })
    }

    /// Removes the warnings of the package manager.
    mutating func packagesChanged() { lasting = [] }
}
