import Backplane
import BackplaneHost

extension DevEvent {
    func lines(at time: String, colour: Bool) -> [String] {
        guard let (word, text, rest) = parts else { return [] }
        let padded = word.text + String(repeating: " ", count: max(0, Self.width - word.text.count))
        let first: [Span] = [Span(time + "  ", .faint), Span(padded, word.style), Span(text)]
        return [first.text(colour: colour)] + rest
    }

    private static let width = "rolled back  ".count

    private typealias Parts = (word: Span, text: String, rest: [String])

    private var parts: Parts? {
        switch self {
        case .started(let beginning): (Span("dev", .heading), beginning.text, [])
        case .buildStarted(let build): build.isSwapped ? nil : (Span("building", .faint), build.product.printable, [])
        case .buildProgress(let progress): progress.told
        case .diagnostic, .output: nil
        case .buildWaiting(let obstacle):
            (
                Span("waiting", .doubtful),
                "\(obstacle.product.printable): process \(obstacle.process) is building in \(obstacle.folder.printable)",
                []
            )
        case .buildEnded(let result): result.parts
        case .hostStarted(let application):
            application.isOwn
                ? application.report.parts : (Span("attached", .good), "to process \(application.report.process)", [])
        case .alsoRunning(let others):
            (Span("other host", .doubtful), "\(others.text); with --running, choose the host with --socket", [])
        case .hostEnded(let ending): ending.parts
        case .swapped(let swap): (Span("swapped", .good), swap.text, swap.report.remarks)
        case .unchanged(let libraries): libraries.parts
        case .refused(let refusal):
            (
                Span("refused", .bad), refusal.text,
                refusal.problems + refusal.error.unstatedCauses.flatMap(\.reportLines).map { "  " + $0 }
            )
        case .rolledBack(let report): (Span("rolled back", .doubtful), report.movements, report.remarks)
        case .applied(let report):
            !report.managers.movesAny && report.components.isEmpty && report.warnings.isEmpty
                ? nil : (Span("applied", .good), report.manifestText, report.warningLines)
        case .changed(let change): change.parts
        case .generations(let memory):
            (Span("in memory", .heading), counted(memory.generations.count, "generation"), memory.table)
        case .stopped(let reason): (Span("stopped", .heading), reason.reason, [])
        }
    }
}

extension HostEvent.Kind {
    /// The line for a change by another command; `nil` for any other event.
    fileprivate var parts: (word: Span, text: String, rest: [String])? {
        let by = "by another command: "
        return switch self {
        case .swapped(let report):
            (
                report.isBackwards ? Span("rolled back", .doubtful) : Span("swapped", .good), by + report.movements,
                report.remarks
            )
        case .applied(let report):
            (
                Span("applied", .good),
                by + (report.plugins.isEmpty ? "" : report.movements + "; ") + report.manifestText, report.warningLines
            )
        case .reset(let report):
            (Span("reset", .doubtful), by + report.managers.lines.joined(separator: "; "), report.warningLines)
        case .started, .failed, .laneChanged, .missed: nil
        }
    }
}

extension ManagerChanges {
    fileprivate var text: String { "the manifest: \(lines.joined(separator: "; "))" }
}

extension ChangeReport {
    /// The managers that another manifest changes, or the collaborators if it changes only these.
    fileprivate var manifestText: String {
        guard !managers.movesAny, managers.restarted.isEmpty, !components.isEmpty else { return managers.text }
        return "the manifest: \(components.map { "\($0.component.printable) \($0.action)" }.joined(separator: "; "))"
    }
}

extension DevEvent.Beginning {
    fileprivate var text: String {
        let products = packages.flatMap(\.products)
        let built =
            products.isEmpty
            ? "nothing to build" : "\(counted(products.count, "plugin")) of \(counted(packages.count, "package"))"
        let parts: [String?] = [
            manifest.printable, built,
            libraries.isEmpty ? nil : "\(counted(libraries.count, "built library file")) watched",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension DevEvent.Progress {
    /// The line for a step; `nil` if an application is running, whose state is then shown instead.
    fileprivate var told: (word: Span, text: String, rest: [String])? {
        isSwapped ? nil : (Span("building", .faint), "\(product.printable) \(step.printable)", [])
    }
}

extension DevEvent.BuildResult {
    fileprivate var parts: (word: Span, text: String, rest: [String])? {
        let time = Figure.milliseconds(seconds * 1_000), rest = text.map(\.printableWithTabs)
        return switch outcome {
        case .failed:
            (
                Span("failed", .bad),
                "\(product.printable) does not build (\(time)); "
                    + "\(isSwapped ? "the active version is unchanged" : "the application starts when it does")",
                rest
            )
        case .cancelled: nil
        case .succeeded where !isSwapped: (Span("built", .good), "\(product.printable) in \(time)", rest)
        case .succeeded where isChanged:
            rest.isEmpty ? nil : (Span("warned", .doubtful), "\(product.printable), \(time)", rest)
        case .succeeded: (Span("no change", .faint), "\(product.printable), \(time)", rest)
        }
    }
}

extension HostChild.Report {
    fileprivate var parts: (word: Span, text: String, rest: [String]) {
        let up = managers.count { $0.state == "ready" }, idle = managers.filter { $0.reason != nil }
        let count = up == managers.count ? counted(up, "manager") : "\(up) of \(counted(managers.count, "manager"))"
        let reasons = idle.map { "  \($0.name.printable): \($0.reason?.description.printable.namingOptions ?? "")" }
        let place =
            (server.map { ", serving \($0.printable)" } ?? "") + (screens.map { ", screens \($0.printable)" } ?? "")
        return (
            Span("running", up == managers.count ? .good : .doubtful), "\(count) up, process \(process)\(place)",
            problems + reasons
        )
    }
}

extension DevEvent.Others {
    fileprivate var text: String {
        let numbers = hosts.map { "\($0.process)" }
        return hosts.count == 1
            ? "process \(numbers[0]) also runs this manifest"
            : "processes \(numbers.joined(separator: ", ")) also run this manifest"
    }
}

extension DevEvent.Ending {
    /// The line for an ending; `nil` if the process stopped as requested.
    fileprivate var parts: (word: Span, text: String, rest: [String])? {
        guard isExpected else {
            return (
                Span("died", .bad), "the application's process: \(how); save a change or press s to restart it",
                []
            )
        }
        return isInOrder
            ? nil : (Span("killed", .doubtful), "the application's process did not stop cleanly: \(how)", [])
    }
}

extension DevEvent.Swap {
    fileprivate var text: String {
        let held = report.callsHeld
        let parts = [
            builtIn.values.max().map { "built in \(Figure.milliseconds($0 * 1_000))" },
            "swapped in \(Figure.milliseconds(report.duration.milliseconds))",
            held == 0 ? "no call had to wait" : "\(counted(held, "call")) carried over",
        ]
        return "\(report.movements): \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}

extension DevEvent.Libraries {
    /// The line for unchanged libraries; `nil` if this session built none of them, such as after `touch`.
    fileprivate var parts: (word: Span, text: String, rest: [String])? {
        guard let time = builtIn.values.max() else { return nil }
        let names = libraries.map(FilePath.name).sorted().joined(separator: ", ").printable
        return (Span("no change", .faint), "\(names), built in \(Figure.milliseconds(time * 1_000))", [])
    }
}

extension DevEvent.Refusal {
    fileprivate var text: String {
        switch subject {
        case .swap: "\(error.description.printable.namingOptions); the active version is unchanged"
        case .manifest: "\(error.description.printable.namingOptions); the active manifest is unchanged"
        case .rollback, .package, .build, .host, .watching: error.description.printable.namingOptions
        }
    }
}

extension ChangeReport {
    /// A Boolean value that indicates whether an older generation replaces a newer one.
    var isBackwards: Bool { plugins.contains { $0.toGeneration < $0.fromGeneration } }

    /// The plugins with their old and new generations, or else the manifest.
    fileprivate var movements: String {
        guard !plugins.isEmpty else { return "the manifest" }
        return plugins.map { change in
            let versions = change.fromVersion == change.toVersion ? "" : " \(change.fromVersion) → \(change.toVersion)"
            return "\(change.plugin.printable)\(versions), generation \(change.generations)"
        }.joined(separator: "; ")
    }

    fileprivate var warningLines: [String] { warnings.map { "  " + $0.printable } }

    /// The effect of another manifest, and the non-fatal problems of the swap.
    fileprivate var remarks: [String] {
        let change = managers.movesAny ? managers.text : nil
        let lost = components.compactMap { component in
            component.state?.lost.map { "state of \(component.component) lost: \($0)" }
        }
        return ([change].compactMap(\.self) + lost + warnings + (failure.map { [$0.description] } ?? []))
            .map { "  " + $0.printable }
    }
}

extension DevEvent.Memory {
    fileprivate var table: [String] {
        GenerationRows.table(generations).lines(colour: false)
    }
}

extension DevEvent.Refusal {
    private var isHeld: Bool {
        error.code == .swapFailed && error.causes.contains { $0.code == .swapHeld }
    }

    /// Returns the hint that names the next key.
    ///
    /// - Parameter waits: Whether a swap that is held up by calls takes place once they have ended.
    func nextStep(ifWaiting waits: Bool) -> String? {
        switch subject {
        case .swap where isHeld && waits:
            "swapped in by itself once these calls have ended; s restarts the application now"
        case .swap: "save a correction, or press r to try again; s restarts the application with the newest build"
        case .manifest: "save a correction; s restarts the application with this manifest"
        case .rollback, .package, .build, .host, .watching: nil
        }
    }

    /// Returns the refusal as an input of the loop.
    ///
    /// - Parameter waits: Whether a swap that is held up by calls takes place once they have ended.
    func answer(ifWaiting waits: Bool) -> DevLoop.Answer {
        // A library that is not active may be named by a manifest that has not been applied yet.
        guard subject == .swap, error.code != .swapRefused, error.code != .pluginUnknown else { return .misfit }
        if isHeld { return waits ? .held : .failed }
        // The error is in the new manifest, and the libraries may fit the active manifest.
        if error.code.rawValue.hasPrefix("manifest.") { return .misfit }
        return error.code.rawValue.hasPrefix("plugin.") ? .unfinished : .failed
    }
}

extension DevEvent.Refusal {
    /// Returns the refusal with a line and column for each location in the manifest, as `check` shows them.
    func placed(in document: ManifestDocument, of manifest: String) -> DevEvent.Refusal {
        var refusal = self
        var positions: [String: String] = [:]
        for location in Set(error.locations) where document.contains(location) {
            let problem = document.problem(of: BackplaneError(error.code, "", at: location))
            guard let position = problem.position else { continue }
            positions[location] = "\(manifest):\(position.line):\(position.column): \(location)"
        }
        refusal.error = error.relocated(by: positions)
        // An error with several causes has the location of its first cause.
        if let first = refusal.error.causes.first?.location, refusal.error.location == document.path {
            refusal.error.location = first
        }
        return refusal
    }
}

extension BackplaneError {
    /// The causes, with their own causes in place of those that the message and the location state already.
    fileprivate var unstatedCauses: [BackplaneError] {
        causes.flatMap { cause in
            let isStated =
                message.contains(cause.message) && [nil, location].contains(cause.location)
                && cause.failure?.shownDetails.isEmpty != false
            return isStated ? cause.unstatedCauses : [cause]
        }
    }

    fileprivate var locations: [String] { (location.map { [$0] } ?? []) + causes.flatMap(\.locations) }

    fileprivate func relocated(by positions: [String: String]) -> BackplaneError {
        var error = self
        error.location = location.map { positions[$0] ?? $0 }
        error.causes = causes.map { $0.relocated(by: positions) }
        return error
    }
}
