import Backplane
import BackplaneHost

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
        /// A Boolean value that indicates whether an application is running into which the product is swapped.
        var isSwapped: Bool
        /// Some of the changed files that caused the build; empty for a first or a requested build.
        var because: [String]
    }

    struct Progress: Codable, Sendable {
        var product: String
        /// A Boolean value that indicates whether an application is running into which the product is swapped.
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
        var outcome: Outcome
        var time: BuildTime
        /// A Boolean value that indicates whether the library or its resources differ from those before the build.
        var isChanged: Bool
        /// A Boolean value that indicates whether an application is running into which the product is swapped.
        var isSwapped: Bool
        /// The output of the compiler.
        var text: [String]

        private enum CodingKeys: String, CodingKey {
            case product, outcome, time = "seconds", isChanged, isSwapped, text
        }
    }

    struct Application: Codable, Sendable {
        /// A Boolean value that indicates whether this command started the application.
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
        /// A Boolean value that indicates whether the process was requested to end.
        var isExpected: Bool
        /// A Boolean value that indicates whether the application stopped all its components before it ended.
        var isInOrder: Bool
        /// The exit code or the signal that ended the process, such as `exit code 1`.
        var how: String
    }

    struct Swap: Codable, Sendable {
        /// The time from the start of a build until the linker closed the library, for each library built here.
        var builtIn: [String: BuildTime]
        var report: ChangeReport
    }

    struct Libraries: Codable, Sendable {
        var libraries: [String]
        var builtIn: [String: BuildTime]
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
