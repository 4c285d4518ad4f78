import Backplane
import BackplaneHost

/// One run of `backplane dev`: takes news in, has the loop decide, and does what it says.
final class DevSession {
    let command: DevCommand
    let printer: DevPrinter
    let send: @Sendable (DevNews) -> Void
    let hasKeys: Bool
    private(set) var loop = DevLoop()
    var packages: [DevPackage] = []
    var composition: DevComposition?
    let watching: DevWatching
    var build: RunningBuild?
    /// The package that was built last.
    var lastBuilt: String?
    var application: HostLink?
    /// How many there have been.
    var applications = 0
    /// The libraries as the loop knows them.
    var known: [String: ProductStamp] = [:]
    /// Seconds that the last build of a library took here.
    var builtIn: [String: Double] = [:]
    /// What has changed since the last build began.
    var because: Set<String> = []
    /// The libraries of products that the manifest in force did not have: they come with a manifest, not by a swap.
    var newlyNamed: Set<String> = []
    /// The plugins of the last swap.
    var lastSwapped: [String] = []
    var isStopping = false

    init(_ command: DevCommand, hasKeys: Bool, _ printer: DevPrinter, _ send: @escaping @Sendable (DevNews) -> Void) {
        (self.command, self.hasKeys, self.printer, self.send) = (command, hasKeys, printer, send)
        watching = DevWatching(send)
    }

    func begin() {
        watching.remember(descriptions)
        readPackages(command.packageFolders)
    }

    /// - Returns: the exit code, once all has ended.
    func take(_ news: DevNews) -> Int32? {
        switch news {
        case .packages(let results): take(results)
        case .sources(let changes): takeSources(changes)
        case .libraries(let changes): takeLibraries(changes)
        case .buildLine(let line): take(line)
        case .built(let ending): take(ending)
        case .host(let news, let number): if number == application?.number { take(news) }
        case .answer(let answer, let number): if number == application?.number { take(answer) }
        case .key(let key): take(key)
        case .stop(let reason): stop(reason)
        }
        return isStopping && build == nil && application == nil ? 0 : nil
    }

    /// Tells the loop, and does what it says.
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
        case .swap(let libraries): application?.swap(libraries)
        case .apply: application?.apply(command.settings)
        case .rollBack(let plugin): application?.rollBack(plugin)
        case .showRefusal: if let refusal = application?.refusal { printer.print(.refused(refusal)) }
        }
    }
}
