import Backplane
import BackplaneHost
import FoundationEssentials

/// An event of `backplane dev`, as reported to editors and scripts.
enum DevEvent: Sendable {
    case started(Beginning)
    case buildStarted(Build)
    /// A build has reached another step; this is reported every few seconds.
    case buildProgress(Progress)
    /// Another process builds in the same folder.
    case buildWaiting(Obstacle)
    case diagnostic(Finding)
    case buildEnded(BuildResult)
    case hostStarted(Application)
    /// Other hosts run the same manifest.
    case alsoRunning(Others)
    case hostEnded(Ending)
    case swapped(Swap)
    /// New libraries are identical to the active ones.
    case unchanged(Libraries)
    case refused(Refusal)
    case rolledBack(ChangeReport)
    case applied(ChangeReport)
    /// Another command has changed the application.
    case changed(HostEvent.Kind)
    case generations(Memory)
    /// The application printed a line.
    case output(Line)
    case stopped(Reason)

    struct Beginning: Codable, Sendable {
        struct Package: Codable, Sendable {
            var path: String
            var products: [String]
        }
        var manifest: String
        /// The packages that are built; if empty, libraries are only watched.
        var packages: [Package]
        /// The libraries that are not built by any package of this session.
        var libraries: [String]
    }

    struct Build: Codable, Sendable {
        var product: String
        var package: String
        var isSwapped: Bool
        /// Some of the changed files that caused the build; empty for a first or a requested build.
        var because: [String]
    }

    struct Progress: Codable, Sendable {
        var product: String
        var isSwapped: Bool
        /// The line of the package manager, such as `[3/7] Compiling Notes Notes.swift`.
        var step: String
    }

    struct Obstacle: Codable, Sendable {
        var product: String
        var process: Int
        var folder: String
    }

    struct Finding: Codable, Sendable {
        var product: String
        var diagnostic: Diagnostic
    }

    struct BuildResult: Codable, Sendable {
        enum Outcome: String, Codable, Sendable { case succeeded, failed, cancelled }
        var product: String
        var outcome: DevLoop.BuildEnd
        var seconds: Double
        /// A Boolean value that indicates whether the build has changed the library or its resources, or they are not
        /// active.
        var isChanged: Bool
        var isSwapped: Bool
        /// The output of the compiler.
        var text: [String]
    }

    struct Application: Codable, Sendable {
        var isOwn: Bool
        var report: HostChild.Report

        private enum CodingKeys: String, CodingKey { case isOwn }

        init(isOwn: Bool, report: HostChild.Report) { (self.isOwn, self.report) = (isOwn, report) }

        init(from decoder: any Decoder) throws {
            isOwn = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isOwn)
            report = try HostChild.Report(from: decoder)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(isOwn, forKey: .isOwn)
            try report.encode(to: encoder)
        }
    }

    struct Others: Codable, Sendable {
        struct Host: Codable, Sendable {
            var process: Int32
            var control: String
        }
        var hosts: [Host]
    }

    struct Ending: Codable, Sendable {
        var isExpected: Bool
        var isInOrder: Bool
        /// The exit code or the signal that ended the process, such as `exit code 1`.
        var how: String
    }

    struct Swap: Codable, Sendable {
        /// The seconds from the start of a build until the linker closed the library, for each library built here.
        var builtIn: [String: Double]
        var report: ChangeReport
    }

    struct Libraries: Codable, Sendable {
        var libraries: [String]
        var builtIn: [String: Double]
    }

    struct Refusal: Codable, Sendable {
        enum Subject: String, Codable, Sendable {
            /// The operation that failed.
            case swap, rollback, manifest, package, build, host, watching
        }
        var subject: Subject
        var error: BackplaneError
        /// The errors of a manifest with their locations, or the compiler's output about a Package.swift.
        var problems: [String] = []
    }

    struct Memory: Codable, Sendable {
        var generations: [Generation]
    }

    struct Line: Codable, Sendable {
        enum Stream: String, Codable, Sendable { case output, errors }
        var stream: Stream
        var text: String
    }

    struct Reason: Codable, Sendable {
        var reason: String
    }
}

/// An event as a line of JSON.
private struct DevEventLine: Encodable {
    /// The time of the event, in seconds since 1970.
    var time: Double
    var event: DevEvent

    private enum CodingKeys: String, CodingKey { case event, time }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event.name, forKey: .event)
        try container.encode(time, forKey: .time)
        try event.payload.encode(to: encoder)
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Events consist of strings and finite numbers, so encoding does not fail.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension DevEvent {
    func json(at time: Double) -> String { DevEventLine(time: time, event: self).text }

    /// The name of the event, which is the value of the key `event`.
    var name: String { parts.name }
    fileprivate var payload: any Encodable { parts.payload }

    private var parts: (name: String, payload: any Encodable) {
        switch self {
        case .started(let beginning): ("started", beginning)
        case .buildStarted(let build): ("buildStarted", build)
        case .buildProgress(let progress): ("buildProgress", progress)
        case .buildWaiting(let obstacle): ("buildWaiting", obstacle)
        case .diagnostic(let finding): ("diagnostic", finding)
        case .buildEnded(let result): ("buildEnded", result)
        case .hostStarted(let report): ("hostStarted", report)
        case .alsoRunning(let others): ("alsoRunning", others)
        case .hostEnded(let ending): ("hostEnded", ending)
        case .swapped(let swap): ("swapped", swap)
        case .unchanged(let libraries): ("unchanged", libraries)
        case .refused(let refusal): ("refused", refusal)
        case .rolledBack(let report): ("rolledBack", report)
        case .applied(let change): ("applied", change)
        case .changed(let change): ("changed", change)
        case .generations(let memory): ("generations", memory)
        case .output(let line): ("output", line)
        case .stopped(let reason): ("stopped", reason)
        }
    }
}
