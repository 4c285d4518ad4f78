import Backplane
import BackplaneControl
import BackplaneHost
import Foundation

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
    var told = ToldDiagnostics()
    /// The pace of build progress reports if there is no progress line.
    var pace = ProgressPace(interval: 5)
    /// The number of builds so far.
    var builds = 0
    var lastBuilt: String?
    var application: HostLink?
    /// The number of applications so far.
    var applications = 0
    var libraries = DevLibraries()
    /// The files that have changed since the last build started.
    var because: Set<String> = []
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
        watching?.watch(nil, manifest: command.settings.manifest, packages: folders)
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
        case .answer(let answer, let number):
            guard number == application?.number else { break }
            tellOthers(before: answer)
            take(answer)
        case .waited(let answer, let libraries, let number):
            guard number == application?.number else { break }
            tellOthers(before: answer)
            take(answer, waitingFor: libraries)
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
        case .swapWaiting(let libraries, let appliesManifest):
            self.libraries.areAsked(libraries)
            application?.swapWaiting(libraries, command.settings, applying: appliesManifest)
        case .apply: application?.apply(command.settings)
        case .rollBack(let plugin): application?.rollBack(plugin, command.settings.swapOptions)
        case .showRefusal:
            guard let refusal = application?.refusal else { break }
            let settings = command.settings
            printer.print(.refused(refusal.placed(in: settings.document, of: settings.manifest)))
            hint(refusal.nextStep(ifWaiting: settings.waitsForLongCalls))
        }
    }
}

/// The inputs of the single task in which `backplane dev` makes its decisions.
enum DevNews: Sendable {
    /// The descriptions of packages were read.
    case packages([Result<DevPackage, BackplaneError>])
    /// Other hosts run the same manifest.
    case others([RunningHost])
    case sources(WatchedChanges)
    case libraries(WatchedChanges)
    /// An event of the build with the given number.
    case build(RunningBuild.News, of: Int)
    /// An event of the application with the given number; events of earlier applications are ignored.
    case host(HostLink.News, of: Int)
    case answer(HostAnswer, of: Int)
    /// The answer to the request for a swap of libraries that waits for long calls.
    case waited(HostAnswer, [String], of: Int)
    /// Keys can be read from now on.
    case keys
    case key(DevKey)
    case stop(String)
}

/// The host's answer to a request.
enum HostAnswer: Sendable {
    case swapped(ChangeReport)
    case rolledBack(ChangeReport)
    case applied(ChangeReport)
    case generations([Generation])
    case refused(DevEvent.Refusal)
}

// Packages and the manifest, which determine what is built and watched.
extension DevSession {
    func readPackages(_ folders: [String]) {
        let swiftPM = command.swiftPM, send = send
        told.packagesChanged()
        tell(.reading)
        Thread.detachNewThread {
            send(
                .packages(
                    folders.map { folder in Result { () throws(BackplaneError) in try swiftPM.package(at: folder) } }))
        }
    }

    func take(_ results: [Result<DevPackage, BackplaneError>]) {
        let isFirst = composition == nil, before = composition?.products ?? []
        var read: Set<String> = []
        for result in results {
            switch result {
            case .success(let package):
                read.insert(package.path)
                packages.removeAll { $0.path == package.path }
                packages.append(package)
            case .failure(let error):
                printer.print(
                    .refused(
                        .init(
                            subject: .package, error: error.withoutSaid, problems: error.said.map(\.printableWithTabs)))
                )
            }
        }
        let document = command.settings.document
        compose(document)
        if isFirst { printer.print(.started(beginning)) }
        if hasKeys, isFirst { printer.hint(DevKey.legend) }
        let products = composition?.products ?? []
        // Skip the packages that could not be read.
        tell(.changed(products.filter { read.contains($0.package) }))
        // The manifest named these libraries before they existed, so apply it again.
        let new = products.filter { !before.contains($0) }
        if !isFirst, !new.isEmpty {
            libraries.expect(new.map(\.library))
            tell(.manifest)
        }
        tell(.read)
    }

    /// Determines the products and files to build and watch from now on.
    private func compose(_ document: ManifestDocument) {
        let composition = DevComposition(document, packages, pluginPaths: pluginPaths)
        self.composition = composition
        for path in composition.libraries where !libraries.isKnown(path) { libraries.remember(path, stamp(of: path)) }
        watching?.watch(composition, manifest: command.settings.manifest, packages: folders)
        tell(.needed(composition.products))
    }

    private var beginning: DevEvent.Beginning {
        let products = composition?.products ?? []
        let packages = packages.map { package in
            DevEvent.Beginning.Package(
                path: package.path, products: products.filter { $0.package == package.path }.map(\.name))
        }
        return .init(manifest: command.settings.manifest, packages: packages, libraries: composition?.others ?? [])
    }

    func takeManifest() {
        let document = command.settings.document
        let errors = document.problems.causes.filter { $0.severity == .error }
        guard errors.isEmpty else {
            let problems =
                errors.map { $0.report(in: command.settings.manifest) }
                + [document.problems.summaryOfConsequences].compactMap(\.self)
            let error = BackplaneError(
                .manifestMalformed, "\(command.settings.manifest) has \(counted(errors.count, "error"))")
            return printer.print(.refused(.init(subject: .manifest, error: error, problems: problems)))
        }
        let before = composition?.products ?? []
        compose(document)
        let new = (composition?.products ?? []).filter { !before.contains($0) }
        libraries.expect(new.map(\.library))
        if !new.isEmpty { tell(.changed(new)) }
        tell(.manifest)
    }
}

// The reaction to changed files.
extension DevSession {
    func takeSources(_ changes: WatchedChanges) {
        let products = composition?.products ?? []
        let paths = changes.paths, changed = products.filter { product in paths.contains(where: product.isMade) }
        // Skip the temporary files of editors.
        because.formUnion(paths.filter { (try? FileStatus(at: $0)) != nil })
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let altered = folders.filter { folder in
            paths.contains { FilePath.folder(of: $0) == folder && DevPackage.isManifest(FilePath.name(of: $0)) }
        }
        if !altered.isEmpty {
            readPackages(altered)
        } else if !changed.isEmpty {
            tell(.changed(changed))
        }
        let definitions = composition?.definitions(changedBy: paths) ?? []
        if !definitions.isEmpty { tell(.libraries(definitions)) }
        // Before the packages have been read, there is nothing to apply the manifest to.
        if composition != nil, paths.contains(FilePath.absolute(command.settings.manifest)) { takeManifest() }
    }

    func takeLibraries(_ changes: WatchedChanges) {
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let all = composition?.libraries ?? []
        let new = changes.paths.intersection(all).filter(isNew)
        if !new.isEmpty { tell(.libraries(new)) }
        let missing = composition?.missing ?? []
        if changes.paths.intersection(missing).contains(where: { stamp(of: $0).library != nil }) { takeManifest() }
    }

    /// Returns whether a complete library differs from its last known version, and remembers the library.
    func isNew(_ path: String) -> Bool {
        let stamp = stamp(of: path)
        guard libraries.isNew(path, stamp) else { return false }
        if let build, build.product.library == path, let written = stamp.written, written >= build.began {
            build.hasCome = true
            libraries.wasBuilt(path, in: written - build.began)
        }
        return true
    }

    func stamp(of path: String) -> ProductStamp {
        ProductStamp(library: path, resources: composition?.products.first { $0.library == path }?.resources ?? [])
    }
}

// Builds run one at a time.
extension DevSession {
    func start(_ product: DevPackage.Product) {
        do throws(BackplaneError) {
            builds += 1
            let number = builds, send = send
            told.begin(product.id)
            build = try RunningBuild(product, after: lastBuilt, known: told.all, with: command.swiftPM) {
                send(.build($0, of: number))
            }
            lastBuilt = product.package
            pace.begin(at: Date().timeIntervalSince1970)
            printer.print(
                .buildStarted(
                    .init(
                        product: product.name, package: product.package, isSwapped: loop.isHostUp,
                        because: because.sorted().prefix(8).map(\.self))))
            printer.progress("building \(product.name)")
            because = []
        } catch {
            printer.print(.refused(.init(subject: .build, error: error)))
            tell(.built(.failed))
        }
    }

    func take(_ news: RunningBuild.News) {
        guard let build else { return }
        let product = build.product.name
        switch news {
        case .progress(let text):
            printer.progress("building \(product) \(text)")
            guard printer.keepsEveryLine, pace.isDue(at: Date().timeIntervalSince1970) else { break }
            printer.print(.buildProgress(.init(product: product, isSwapped: loop.isHostUp, step: text)))
        case .waiting(let process, let folder):
            printer.print(.buildWaiting(.init(product: product, process: process, folder: folder)))
        case .diagnostic(let diagnostic): printer.print(.diagnostic(.init(product: product, diagnostic: diagnostic)))
        case .ended(let ending): hasEnded(build, ending)
        }
    }

    private func hasEnded(_ build: RunningBuild, _ ending: ChildProcess.Ending) {
        let end = build.end(ending), library = build.product.library
        let hadCome = build.hasCome
        // Decide this before the loop learns of the end, because a library that is refused now may fit the next one.
        let isFresh = end == .succeeded && isNew(library)
        self.build = nil
        if end != .cancelled { told.add(build.diagnostics) }
        printer.clearProgress()
        printer.print(
            .buildEnded(
                .init(
                    product: build.product.name, outcome: end,
                    seconds: Date().timeIntervalSince1970 - build.began,
                    isChanged: isFresh || stamp(of: library) != build.before, isSwapped: loop.isHostUp,
                    text: end == .cancelled ? [] : build.text)))
        if isFresh {
            if hadCome { libraries.expect([library]) }
            tell(.libraries([library]))
        }
        tell(.built(end))
    }
}

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

    func take(_ news: HostLink.News) {
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
        case .event(let event): for change in application?.others.take(event) ?? [] { follow(change) }
        case .ended(let ending):
            hasEnded(ending.text, inOrder: ending == .exit(0))
        }
    }

    private func tellOthers(before answer: HostAnswer) {
        for change in application?.others.take(answer) ?? [] { follow(change) }
    }

    /// Reports a change by another command.
    private func follow(_ change: HostEvent.Kind) {
        printer.print(.changed(change))
        guard case .swapped(let report) = change else { return }
        if report.isBackwards { wasRolledBack(report) } else { lastSwapped = report.plugins.map(\.plugin) }
    }

    private func wasRolledBack(_ report: ChangeReport) {
        libraries.areRolledBack(report.plugins.map(\.library))
        hint("r activates the newest build again")
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

// Swap requests to the application, and its answers to all requests.
extension DevSession {
    func swap(_ paths: [String], applying appliesManifest: Bool = false) {
        libraries.areAsked(paths)
        application?.swap(paths, command.settings, applying: appliesManifest)
    }

    func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            swapped(application?.asked ?? [], report, appliesManifest: application?.appliesManifest == true)
        case .rolledBack(let report):
            printer.print(.rolledBack(report))
            wasRolledBack(report)
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
            return tell(.answered(refusal.answer(ifWaiting: command.settings.waitsForLongCalls)))
        }
        tell(.answered(.done))
    }

    /// Processes the answer to the request that waits for long calls.
    private func take(_ answer: HostAnswer, waitingFor asked: [String]) {
        switch answer {
        case .swapped(let report):
            swapped(asked, report, appliesManifest: false)
            tell(.waited(.done))
        case .refused(let refusal) where refusal.error.code == .controlUnreachable && application?.isForeign == true:
            hasEnded(refusal.error.message)
        case .refused(let refusal):
            libraries.areRefused(asked)
            application?.refusal = refusal.error.code == .controlUnreachable ? nil : refusal
            tell(.waited(refusal.answer(ifWaiting: command.settings.waitsForLongCalls)))
        case .rolledBack, .applied, .generations: break
        }
    }

    private func swapped(_ asked: [String], _ report: ChangeReport, appliesManifest: Bool) {
        let (times, isNews) = libraries.areTaken(asked)
        guard report.outcome != .unchanged else {
            if isNews { printer.print(.unchanged(.init(libraries: asked, builtIn: times))) }
            return
        }
        if appliesManifest { libraries.areApplied() }
        libraries.areSwapped(asked)
        lastSwapped = report.plugins.map(\.plugin)
        printer.print(.swapped(.init(builtIn: times, report: report)))
    }
}

// The commands of the user.
extension DevSession {
    /// Prints the next key to press, if there are keys.
    func hint(_ text: String?) {
        if hasKeys, let text { printer.hint(text) }
    }

    func takeKeys() {
        hasKeys = true
        // Otherwise, the legend is printed after the first composition.
        if composition != nil { printer.hint(DevKey.legend) }
    }

    func take(_ key: DevKey) {
        switch key {
        case .rebuild: rebuild()
        case .rollBack:
            guard !lastSwapped.isEmpty else {
                return printer.print(
                    .refused(
                        .init(
                            subject: .rollback,
                            error: BackplaneError(
                                .swapRefused, "nothing to roll back: nothing has been swapped yet"))))
            }
            for plugin in lastSwapped { tell(.rollBack(plugin: plugin)) }
        case .generations: application?.listGenerations()
        case .restart: tell(.restart)
        case .help: printer.hint(DevKey.legend)
        case .quit: isStopping ? endHost() : stop("q")
        }
    }

    /// Builds all products, and offers refused or taken-back libraries again even if the build does not change them.
    private func rebuild() {
        let products = composition?.products ?? []
        let others = libraries.tryAgain().filter { library in
            !products.contains { $0.library == library } && isNew(library)
        }
        tell(.changed(products))
        if !others.isEmpty { tell(.libraries(others)) }
    }

    func stop(_ reason: String) {
        guard !isStopping else { return }
        isStopping = true
        watching?.close()
        printer.beginToEnd()
        printer.clearProgress()
        printer.print(.stopped(.init(reason: reason)))
        build?.cancel()
        endHost()
    }
}
