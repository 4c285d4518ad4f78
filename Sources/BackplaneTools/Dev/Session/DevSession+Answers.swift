import Backplane
import BackplaneHost

// Swap requests to the application, and its answers to all requests.
extension DevSession {
    func swap(_ paths: [String], applying appliesManifest: Bool = false) {
        libraries.areAsked(paths)
        application?.swap(paths, command.settings, applying: appliesManifest)
    }

    func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            let asked = application?.asked ?? [], (times, isNews) = libraries.areTaken(asked)
            if report.outcome != .unchanged, application?.appliesManifest == true { libraries.areApplied() }
            if report.outcome != .unchanged {
                libraries.areSwapped(asked)
                lastSwapped = report.plugins.map(\.plugin)
                printer.print(.swapped(.init(builtIn: times, report: report)))
            } else if isNews {
                printer.print(.unchanged(.init(libraries: asked, builtIn: times)))
            }
        case .rolledBack(let report):
            libraries.areRolledBack(report.plugins.map(\.library))
            printer.print(.rolledBack(report))
        case .applied(let change):
            libraries.areApplied()
            printer.print(.applied(change))
        case .generations(let generations): return printer.print(.generations(.init(generations: generations)))
        case .refused(let refusal) where refusal.error.code == .controlUnreachable && application?.isForeign == true:
            return hasEnded(refusal.error.message)
        case .refused(let refusal):
            if refusal.subject == .swap { libraries.areRefused(application?.asked ?? []) }
            // The end of the application is reported separately.
            application?.refusal = refusal.error.code == .controlUnreachable ? nil : refusal
            return tell(.answered(refusal.answer))
        }
        tell(.answered(.done))
    }
}

extension DevEvent.Refusal {
    /// The refusal as an input of the loop.
    var answer: DevLoop.Answer {
        // A library that is not active may be named by a manifest that has not been applied yet.
        guard subject == .swap, error.code != .swapRefused, error.code != .pluginUnknown else { return .misfit }
        // The manifest that came along is to blame, and the code may fit the active one.
        if error.code.rawValue.hasPrefix("manifest.") { return .misfit }
        return error.code.rawValue.hasPrefix("plugin.") ? .unfinished : .failed
    }
}
