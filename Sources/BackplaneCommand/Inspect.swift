import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools
import Foundation

extension BackplaneTool {
    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Show a library's metadata and whether a host would load it.",
            discussion: """
                The library's identity is read without running it; its components are read by loading it in a separate \
                process. The exit code is 1 if a host would not load it.

                EXAMPLES
                  backplane inspect .build/debug/libClock.so
                  backplane inspect Bookshelf --json
                  backplane inspect Bookshelf --manifest manifests/bookshelf.json
                """)

        @OptionGroup var arguments: LibraryArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            let report: InspectionReport
            do {
                let folder = try LoadFolder(in: arguments.loadFolder)
                defer { folder.remove() }
                report = await inspect(try arguments.path, in: folder)
            } catch {
                throw ExitCode(Output.fail(error))
            }
            if json { Output.json(report) } else { report.printTable() }
            throw ExitCode(report.loads ? 0 : 1)
        }

        private func inspect(_ path: String, in folder: LoadFolder) async -> InspectionReport {
            var report = InspectionReport(path, in: folder)
            guard report.problems.isEmpty else { return report }
            do throws(BackplaneError) {
                report.plugin = try await InspectionChild.describe(path, in: folder.path, limit: arguments.limit)
            } catch {
                report.refuse(error)
            }
            return report
        }
    }

    /// The child process of ``Inspect``.
    struct InspectChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: InspectionChild.command, shouldDisplay: false)

        @OptionGroup var arguments: LibraryArguments

        func run() async throws {
            InspectionChild.run(arguments.library, loadFolder: arguments.loadFolder)
        }
    }
}

/// The findings of `inspect`, in the format of `--json`.
struct InspectionReport: Encodable {
    var path: String
    /// A Boolean value that indicates whether a host would load the library.
    private(set) var loads = true
    /// The size of the library's file, in bytes.
    var size: Int?
    var sha256: String?
    /// The contents of the identity section.
    var identity: IdentityRow?
    /// The description that the library returned when it was loaded.
    var plugin: PluginReport?
    /// The reasons why a host would not load the library.
    private(set) var problems: [BackplaneError] = []

    /// Creates a report with the checks of a host, in the same order.
    ///
    /// - Parameter folder: The folder for the copy that a host would load.
    init(_ path: String, in folder: LoadFolder) {
        self.path = path
        do throws(BackplaneError) {
            let copy = try LibraryCopy(of: path, in: folder)
            (size, sha256) = (copy.size, try copy.digest())
            let image = try copy.image()
            // A refused library may still have an identity.
            identity = (try? LibraryIdentity(of: image, at: path)).map(IdentityRow.init)
            try copy.requireEntry(in: image)
            _ = try copy.identity(in: image)
        } catch {
            refuse(error)
        }
    }

    mutating func refuse(_ error: BackplaneError) {
        problems.append(error)
        loads = false
    }

    struct IdentityRow: Encodable {
        var id, version: String?
        var abi: ABI
        var sdk, toolchain: String?
        /// The major and minor version of the Swift compiler.
        var swift: String?
        var hasSwift: Bool

        struct ABI: Encodable { var lowest, highest: UInt32 }

        init(_ identity: LibraryIdentity) {
            (id, version, sdk, toolchain) = (
                identity.id, identity.version?.description, identity.sdk, identity.toolchain
            )
            (swift, hasSwift) = (identity.swift.map(SwiftRuntime.minor), identity.hasSwift)
            abi = ABI(lowest: identity.abi.lowerBound, highest: identity.abi.upperBound)
        }
    }
}

extension InspectionReport {
    func printTable() {
        Output.table(["path", path.printable], facts.map { $0.map(\.printable) })
        if let plugin { plugin.printTable() }
        Output.line("")
        guard !loads else { return Output.line("a host loads it") }
        Output.line("a host refuses it")
        for line in problems.flatMap(\.reportLines) { Output.line("  " + line) }
    }

    private var facts: [[String]] {
        var facts: [[String]] = []
        if let id = plugin?.id ?? identity?.id {
            facts.append([
                "plugin", [id, plugin?.version ?? identity?.version].compactMap(\.self).joined(separator: " "),
            ])
        }
        if let identity {
            facts.append(["ABI", LibraryIdentity.text(identity.abi.lowest...identity.abi.highest)])
            facts.append(["SDK", identity.sdk ?? "none"])
            facts.append(["Swift", identity.swift ?? (identity.hasSwift ? "not said" : "none")])
            facts.append(["toolchain", identity.toolchain ?? "not said"])
        }
        if let size { facts.append(["size", counted(size, "byte")]) }
        if let sha256 { facts.append(["SHA-256", sha256]) }
        return facts
    }
}

extension PluginReport {
    func printTable() {
        Output.line("")
        guard !components.isEmpty else { return Output.line("no components") }
        Output.table(["COMPONENT", "KIND", "CONTRACT"], components.flatMap(\.rows).map { $0.map(\.printable) })
    }
}

extension PluginReport.ReportedComponent {
    /// The rows of the component, its methods and its wires.
    fileprivate var rows: [[String]] {
        [["\(className) \(version)", role, contract.map { "provides \($0.name) \($0.version)" } ?? "-"]]
            + (contract?.methods ?? []).map { ["  \($0.name)", "\($0.kind) method", ""] }
            + wires.map {
                [
                    "  \($0.label)", $0.isOptional ? "optional wire" : "wire",
                    "uses \($0.contract.name) \($0.contract.version)",
                ]
            }
    }
}

/// The child process that loads a library and requests its description, so that a crash does not end `inspect`.
enum InspectionChild {
    /// The hidden command that the child runs.
    static let command = "inspect-child"

    /// The output of the child.
    private struct Answer: Codable {
        var plugin: PluginReport?
        var problem: BackplaneError?
    }

    /// Asks a child process for the description of the library at `path`.
    ///
    /// - Parameters:
    ///   - folder: A folder in which the child may leave files.
    ///   - limit: The time without output after which the child is killed.
    /// - Throws: `BackplaneError` with the reason why a host would not load the library, such as a crash, a hang or an
    ///   unreadable answer.
    static func describe(_ path: String, in folder: String, limit: Duration) async throws(BackplaneError)
        -> PluginReport
    {
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
        let run = try await ChildRun(
            [command, "--load-folder", folder + "/child", "--", path], limit: limit)
        let reason: String
        switch run.ending {
        case .saidAll:
            if let answer = try? JSONDecoder().decode(Answer.self, from: run.output) {
                if let plugin = answer.plugin { return plugin }
                if let problem = answer.problem { throw problem }
            }
            reason = "its output could not be parsed"
        case .overdue: reason = "it did not describe itself within \(seconds.formatted()) s"
        case .signal(let number):
            reason = "it ended its process with signal \(number) (\(String(cString: strsignal(number))))"
        case .exit(let status): reason = "its process ended with exit code \(status) before it described itself"
        }
        let printed = run.errors.split(separator: "\n").suffix(8).map {
            BackplaneError(.pluginLoadFailed, "it printed: \($0)")
        }
        throw BackplaneError(.pluginLoadFailed, "loaded in a separate process, \(reason)", at: path, causes: printed)
    }

    /// Runs the child; exits instead of returning, so that no more code of the library runs.
    static func run(_ path: String, loadFolder: String?) -> Never {
        ChildLifetime.endWithParent()
        // Output of the library must not mix with the answer.
        let output = ChildLifetime.moveHigh(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY)
        dup2(nothing, STDOUT_FILENO)
        var answer = Answer()
        do throws(BackplaneError) {
            answer.plugin = PluginReport(try LibraryFile.prepare(path, in: try LoadFolder(in: loadFolder)).describe())
        } catch {
            answer.problem = error
        }
        Output.json(answer, to: output)
        Output.write("\0", to: output)
        _exit(0)
    }
}

/// The arguments of commands that run a library's code in child processes, and of the child processes.
struct LibraryArguments: ParsableArguments {
    @Argument(help: "The library: its path, or its name in a manifest.")
    var library: String

    @Option(
        help: ArgumentHelp(
            "The manifest in which to look up the library's name (default: look beside this command and in the current folder).",
            valueName: "manifest"))
    var manifest: String?

    @Option(
        help: ArgumentHelp(
            "The folder to which the library is copied before it is loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
            valueName: "folder"))
    var loadFolder: String?

    @Option(help: ArgumentHelp("Seconds that the library may take for each step.", valueName: "seconds"))
    var timeout = 10.0

    /// The time limit for each step.
    var limit: Duration { .seconds(timeout) }

    func validate() throws {
        guard (0.001...3_600).contains(timeout) else {
            throw ValidationError("--timeout: expected seconds, up to an hour, found \(timeout)")
        }
    }

    /// The path of the library.
    ///
    /// - Throws: `plugin.not-found`; `manifest.unreadable` or `manifest.malformed`, whether or not the manifest is
    ///   needed to find the library.
    var path: String {
        get throws(BackplaneError) {
            let advice = "build it, or specify its path"
            guard let manifest else {
                if library.contains("/") || (try? FileStatus(at: library)) != nil { return library }
                return try LibraryLocator(manifestFolder: ".", pluginPaths: [], advice: advice).locate(library)
            }
            // A manifest that cannot be read would count as one without configurations.
            _ = try ManifestFile.read(manifest)
            let document = ManifestDocument(contentsOf: manifest)
            if let problem = document.problems.causes.first(where: { $0.error.code == .manifestMalformed }) {
                throw problem.error
            }
            if library.contains("/") { return library }
            let plugins = document.manifest.plugins ?? []
            let named = plugins.first { [library, "lib\(library).so"].contains(FilePath.name(of: $0.library)) }
            return try LibraryLocator(manifestFolder: FilePath.folder(of: manifest), pluginPaths: [], advice: advice)
                .locate(named?.library ?? library)
        }
    }
}
