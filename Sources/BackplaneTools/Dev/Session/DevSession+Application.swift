import Backplane
import BackplaneControl
import BackplaneHost
import Foundation

// The start and the end of the application's process.
extension DevSession {
    func startHost() {
        applications += 1
        if let running = command.running {
            application = HostLink(number: applications, running, send)
            return
        }
        do throws(BackplaneError) {
            var settings = command.settings
            settings.pluginPaths = pluginPaths
            application = try HostLink(number: applications, settings, passOn: printer.passOn, send)
            printer.progress("starting")
        } catch {
            printer.print(.refused(.init(subject: .host, error: error)))
            tell(.hostEnded)
        }
    }

    /// Looks for other hosts of the same manifest, which would use the same folders and ports.
    func lookForOthers() {
        let manifest = command.settings.manifest, send = send
        Thread.detachNewThread { send(.others(HostChoice.all(running: manifest))) }
    }

    func take(_ others: [RunningHost]) {
        let hosts = others.compactMap { host in
            host.greeting.map { DevEvent.Others.Host(process: $0.process, control: host.socket) }
        }
        let foreign = hosts.filter { $0.process != application?.process?.id }
        if !foreign.isEmpty { printer.print(.alsoRunning(.init(hosts: foreign))) }
    }

    /// Stops the application if this command started it.
    func endHost() {
        guard let application else { return }
        guard application.isForeign else {
            application.stop()
            return printer.progress(
                "the application is stopping" + (hasKeys ? "; \(isStopping ? "q" : "s") again ends it at once" : ""))
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
            // The start ended because the application is stopping.
            guard let application, !application.isStopping else { return }
            application.isUp(report)
            printer.clearProgress()
            printer.print(.hostStarted(.init(isOwn: !application.isForeign, report: report)))
            if command.settings.isDebugged {
                printer.hint("attach a debugger: gdb -p \(report.process), or lldb -p \(report.process)")
            }
            tell(.hostUp)
            if application.isForeign { bringUpToDate() }
        case .ended(let ending):
            hasEnded(ending.text, inOrder: ending == .exit(0))
        }
    }

    /// Offers the current libraries and manifest to an application that may have been started with older ones.
    private func bringUpToDate() {
        libraries.forgetTimes()
        tell(.libraries((composition?.libraries ?? []).filter { stamp(of: $0).library != nil }))
        tell(.manifest)
    }

    func hasEnded(_ how: String, inOrder: Bool = false) {
        let isExpected = application?.isStopping ?? false
        application = nil
        lastSwapped = []
        printer.clearProgress()
        printer.print(.hostEnded(.init(isExpected: isExpected, isInOrder: inOrder, how: how)))
        tell(.hostEnded)
    }
}
