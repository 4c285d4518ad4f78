import Backplane
import BackplaneControl
import BackplaneHost

/// Something that has happened under `backplane dev`, as editors and scripts are told it.
enum DevEvent: Sendable {
    case started(Beginning)
    case buildStarted(Build)
    /// Another process builds in the same folder.
    case buildWaiting(Obstacle)
    case diagnostic(Finding)
    case buildEnded(BuildResult)
    case hostStarted(Application)
    /// Others run the manifest already.
    case alsoRunning(Others)
    case hostEnded(Ending)
    case swapped(Swap)
    /// New libraries are byte for byte what is in force.
    case unchanged(Libraries)
    case refused(Refusal)
    case rolledBack(SwapReport)
    case applied(ManifestChange)
    case generations(Memory)
    /// The application has printed a line.
    case output(Line)
    case stopped(Reason)

    struct Beginning: Codable, Sendable {
        struct Package: Codable, Sendable {
            var path: String
            var products: [String]
        }
        var manifest: String
        /// None: libraries are only watched.
        var packages: [Package]
        /// Files that no package here builds.
        var libraries: [String]
    }

    struct Build: Codable, Sendable {
        var product: String
        var package: String
        /// The files whose change it is for, some of them; none: there was no build yet, or it was asked for.
        var because: [String]
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
        var seconds: Double
        /// Is there another library, or are there other files, than before?
        var isChanged: Bool
        /// There is an application that it goes into.
        var isSwapped: Bool
        /// What the compiler printed.
        var text: [String]
    }

    struct Application: Codable, Sendable {
        /// It was started here.
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
        /// It was told to.
        var isExpected: Bool
        /// It has stopped all that it had started.
        var isInOrder: Bool
        /// `exit code 1`, or the signal that ended it.
        var how: String
    }

    struct Swap: Codable, Sendable {
        /// Seconds from the beginning of its build until the linker had closed it, by library, where it was built here.
        var builtIn: [String: Double]
        private var form: SwapReportForm
        var report: SwapReport { form.value }

        init(builtIn: [String: Double], report: SwapReport) { (self.builtIn, form) = (builtIn, SwapReportForm(report)) }

        private enum CodingKeys: String, CodingKey { case builtIn, form = "report" }
    }

    struct Libraries: Codable, Sendable {
        var libraries: [String]
        var builtIn: [String: Double]
    }

    struct Refusal: Codable, Sendable {
        enum Subject: String, Codable, Sendable {
            /// What was asked for, or what would have had to be read.
            case swap, rollback, manifest, package, build, host, watching
        }
        var subject: Subject
        var error: BackplaneError
        /// Each mistake of a manifest, with its place; of a Package.swift the compiler's own lines.
        var problems: [String] = []
    }

    struct Memory: Codable, Sendable {
        private var forms: [GenerationForm]
        var generations: [Generation] { forms.values }

        init(generations: [Generation]) { forms = [GenerationForm](generations) }

        private enum CodingKeys: String, CodingKey { case forms = "generations" }
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
