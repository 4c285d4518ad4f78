import Backplane
import BackplaneHost

/// A run of `backplane dev`: passes news to the loop and performs the actions on which the loop decides.
final class DevSession {
    let command: DevCommand
    let printer: DevPrinter
    let send: @Sendable (DevNews) -> Void
    var hasKeys = false
    private(set) var loop = DevLoop()
    var packages: [DevPackage] = []
    var composition: DevComposition?
    /// The packages' folders as found at the start; a Package.swift may disappear and reappear.
    let folders: [String]
    /// The folders that are searched for libraries.
    let pluginPaths: [String]
    private(set) var watching: DevWatching?
    var build: RunningBuild?
    /// The diagnostics that have been reported.
    var told = ToldDiagnostics()
    /// The pace of build progress reports if there is no progress line.
    var pace = ProgressPace(interval: 5)
    /// The number of builds so far.
    var builds = 0
    /// The package that was built last.
    var lastBuilt: String?
    var application: HostLink?
    /// The number of applications so far.
    var applications = 0
    var libraries = DevLibraries()
    /// The files that have changed since the last build started.
    var because: Set<String> = []
    /// The plugins of the last swap.
    var lastSwapped: [String] = []
    var isStopping = false

    init(_ command: DevCommand, _ printer: DevPrinter, _ send: @escaping @Sendable (DevNews) -> Void) {
        (self.command, self.printer, self.send) = (command, printer, send)
        folders = command.packageFolders
        pluginPaths = command.pluginPaths(of: folders)
    }

    func begin() {
        do throws(BackplaneError) { watching = try DevWatching(send) } catch {
            printer.print(.refused(.init(subject: .watching, error: error)))
        }
        watching?.watch(nil, descriptions)
        if command.running == nil { lookForOthers() }
        readPackages(folders)
    }

    /// Processes an input.
    ///
    /// - Returns: A Boolean value that indicates whether the session has ended.
    func take(_ news: DevNews) -> Bool {
        switch news {
        case .packages(let results): take(results)
        case .others(let hosts): take(hosts)
        case .sources(let changes): takeSources(changes)
        case .libraries(let changes): takeLibraries(changes)
        case .build(let news, let number): if number == builds { take(news) }
        case .host(let news, let number): if number == application?.number { take(news) }
        case .answer(let answer, let number): if number == application?.number { take(answer) }
        case .keys: takeKeys()
        case .key(let key): take(key)
        case .stop(let reason): stop(reason)
        }
        return isStopping && build == nil && application == nil
    }

    /// Passes an event to the loop and performs the resulting actions.
    func tell(_ event: DevLoop.Event) {
        guard !isStopping else { return }
        for action in loop.take(event) { perform(action) }
    }

    private func perform(_ action: DevLoop.Action) {
        switch action {
        case .build(let product): start(product)
        case .cancelBuild: build?.cancel()
        case .startHost: startHost()
        case .endHost: endHost()
        case .swap(let libraries): swap(libraries)
        case .swapApplying(let libraries): swap(libraries, applying: true)
        case .apply: application?.apply(command.settings)
        case .rollBack(let plugin): application?.rollBack(plugin, command.settings.swapOptions)
        case .showRefusal:
            guard let refusal = application?.refusal else { break }
            let settings = command.settings
            printer.print(.refused(refusal.placed(in: settings.document, of: settings.manifest)))
        }
    }
}
