import Backplane
import BackplaneHost
import Foundation
import Glibc

/// The running application, and what it answers.
extension DevSession {
    func startHost() {
        applications += 1
        if let running = command.running {
            application = HostLink(number: applications, running, send)
            return
        }
        do throws(BackplaneError) {
            var settings = command.settings
            settings.pluginPaths = command.pluginPaths
            application = try HostLink(number: applications, settings, passOn: printer.passOn, send)
            printer.progress("starting")
        } catch {
            printer.print(.refused(.init(subject: .host, error: error)))
            tell(.hostEnded)
        }
    }

    /// Two that run one manifest use the same folders and ports.
    func lookForOthers() {
        let manifest = command.settings.manifest, send = send
        Thread.detachNewThread { send(.others(HostChoice.all(running: manifest))) }
    }

    func take(_ others: [RunningHost]) {
        let hosts = others.compactMap { host in host.greeting.map { DevEvent.Others.Host(process: $0.process, control: host.socket) } }
        let foreign = hosts.filter { $0.process != application?.process?.id }
        if !foreign.isEmpty { printer.print(.alsoRunning(.init(hosts: foreign))) }
    }

    /// One that somebody else has started is left alone.
    func endHost() {
        guard let application else { return }
        guard application.isForeign else {
            application.stop()
            return printer.progress("the application is stopping" + (hasKeys ? "; \(isStopping ? "q" : "s") again ends it at once" : ""))
        }
        self.application = nil
        tell(.hostEnded)
    }

    func take(_ news: HostProcess.News) {
        switch news {
        case .unreachable(let error):
            application = nil
            printer.print(.refused(.init(subject: .host, error: error)))
            tell(.hostEnded)
        case .up(let report):
            // It has given up starting because it is to stop.
            guard let application, !application.isStopping else { return }
            application.isUp(report)
            printer.clearProgress()
            printer.print(.hostStarted(.init(isOwn: !application.isForeign, report: report)))
            tell(.hostUp)
            if application.isForeign { bringUpToDate() }
        case .ended(let ending):
            hasEnded(ending.text, inOrder: ending == .exit(0))
        }
    }

    func swap(_ libraries: [String]) {
        isAskedAgain = unremarkable.isSuperset(of: libraries)
        unremarkable.subtract(libraries)
        application?.swap(libraries)
    }

    /// One that was started by somebody else, at some time, may have older code and an older manifest.
    private func bringUpToDate() {
        builtIn = [:]
        tell(.libraries((composition?.libraries ?? []).filter { stamp(of: $0).library != nil }))
        tell(.manifest)
    }

    private func hasEnded(_ how: String, inOrder: Bool = false) {
        let isExpected = application?.isStopping ?? false
        application = nil
        lastSwapped = []
        printer.clearProgress()
        printer.print(.hostEnded(.init(isExpected: isExpected, isInOrder: inOrder, how: how)))
        tell(.hostEnded)
    }

    func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            let asked = application?.asked ?? [], times = takeTimes(asked)
            if report.outcome != .unchanged {
                lastSwapped = report.plugins.map(\.plugin)
                printer.print(.swapped(.init(builtIn: times, report: report)))
            } else if !isAskedAgain {
                printer.print(.unchanged(.init(libraries: asked, builtIn: times)))
            }
        case .rolledBack(let report): printer.print(.rolledBack(report))
        case .applied(let change):
            // What it brought was loaded from where it lies now.
            builtIn = [:]
            printer.print(.applied(change))
        case .generations(let generations): return printer.print(.generations(.init(generations: generations)))
        case .refused(let refusal) where refusal.error.code == .controlUnreachable && application?.isForeign == true:
            return hasEnded(refusal.error.message)
        case .refused(let refusal):
            if isAskedAgain, refusal.subject == .swap { unremarkable.formUnion(application?.asked ?? []) }
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

extension ChildProcess.Ending {
    /// For a person.
    fileprivate var text: String {
        switch self {
        case .exit(let code): "it ended with exit code \(code)"
        case .signal(let number): "signal \(number) ended it (\(String(cString: strsignal(number))))"
        }
    }
}
