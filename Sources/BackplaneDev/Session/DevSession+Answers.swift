import Backplane
import BackplaneHost

/// What the application is asked to swap, and what it answers.
extension DevSession {
    func swap(_ paths: [String]) {
        libraries.areAsked(paths)
        application?.swap(paths)
    }

    func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            let asked = application?.asked ?? [], (times, isNews) = libraries.areTaken(asked)
            if report.outcome != .unchanged {
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
            // That it has ended is told when it has.
            application?.refusal = refusal.error.code == .controlUnreachable ? nil : refusal
            return tell(.answered(refusal.answer))
        }
        tell(.answered(.done))
    }
}

extension DevEvent.Refusal {
    /// What the loop makes of it.
    var answer: DevLoop.Answer {
        // One that is not in force may be named by a manifest that is still to be applied.
        guard subject == .swap, error.code != .swapRefused, error.code != .pluginUnknown else { return .misfit }
        return error.code.rawValue.hasPrefix("plugin.") ? .unfinished : .failed
    }
}
