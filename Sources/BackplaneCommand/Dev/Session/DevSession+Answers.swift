import Backplane
import BackplaneHost

/// What the application is asked to swap, and what it answers.
extension DevSession {
    func swap(_ libraries: [String]) {
        isAskedAgain = unremarkable.isSuperset(of: libraries)
        unremarkable.subtract(libraries)
        application?.swap(libraries)
    }

    func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            let asked = application?.asked ?? [], times = takeTimes(asked)
            refused.subtract(asked)
            if report.outcome != .unchanged {
                lastSwapped = report.plugins.map(\.plugin)
                printer.print(.swapped(.init(builtIn: times, report: report)))
            } else if !isAskedAgain {
                printer.print(.unchanged(.init(libraries: asked, builtIn: times)))
            }
        case .rolledBack(let report):
            // What lies there is not what is in force: the next build goes forward again, also with the same code.
            for plugin in report.plugins { known[plugin.library] = .unknown }
            printer.print(.rolledBack(report))
        case .applied(let change):
            // What it brought was loaded from where it lies now; what was refused before may be taken now.
            builtIn = builtIn.filter { refused.contains($0.key) }
            printer.print(.applied(change))
        case .generations(let generations): return printer.print(.generations(.init(generations: generations)))
        case .refused(let refusal) where refusal.error.code == .controlUnreachable && application?.isForeign == true:
            return hasEnded(refusal.error.message)
        case .refused(let refusal):
            if refusal.subject == .swap {
                let asked = application?.asked ?? []
                refused.formUnion(asked)
                if isAskedAgain { unremarkable.formUnion(asked) }
            }
            // That it has ended is told when it has.
            application?.refusal = refusal.error.code == .controlUnreachable ? nil : refusal
            return tell(.answered(refusal.answer))
        }
        tell(.answered(.done))
    }

    private func takeTimes(_ libraries: [String]) -> [String: Double] {
        var times: [String: Double] = [:]
        for library in libraries { times[library] = builtIn.removeValue(forKey: library) }
        return times
    }
}

extension DevEvent.Refusal {
    /// What the loop makes of it.
    fileprivate var answer: DevLoop.Answer {
        guard subject == .swap, error.code != .swapRefused else { return .misfit }
        return error.code.rawValue.hasPrefix("plugin.") ? .unfinished : .failed
    }
}
