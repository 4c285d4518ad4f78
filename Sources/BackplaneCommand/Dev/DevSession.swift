import Backplane
import BackplaneHost
import Foundation
import Glibc

/// One run of `backplane dev`: takes news in, has the loop decide, and does what it says.
final class DevSession {
    let command: DevCommand
    let printer: DevPrinter
    let send: @Sendable (DevNews) -> Void
    private let hasKeys: Bool
    private var loop = DevLoop()
    var packages: [DevPackage] = []
    var composition: DevComposition?
    let watching: DevWatching
    private var build: RunningBuild?
    /// The package that was built last.
    private var lastBuilt: String?
    private var application: HostLink?
    /// The libraries as the loop knows them.
    private var known: [String: ProductStamp] = [:]
    /// Seconds that the last build of a library took here.
    private var builtIn: [String: Double] = [:]
    /// What has changed since the last build began.
    private var because: Set<String> = []
    /// The libraries of products that the manifest in force did not have: they come with a manifest, not by a swap.
    private var newlyNamed: Set<String> = []
    /// The plugins of the last swap.
    private var lastSwapped: [String] = []
    private var isStopping = false

    init(_ command: DevCommand, hasKeys: Bool, _ printer: DevPrinter, _ send: @escaping @Sendable (DevNews) -> Void) {
        (self.command, self.hasKeys, self.printer, self.send) = (command, hasKeys, printer, send)
        watching = DevWatching(send)
    }

    func begin() {
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
    private func tell(_ event: DevLoop.Event) {
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

    // MARK: Packages and the manifest

    private func readPackages(_ folders: [String]) {
        let swiftPM = command.swiftPM, send = send
        tell(.reading)
        Thread.detachNewThread {
            send(.packages(folders.map { folder in Result { () throws(BackplaneError) in try swiftPM.package(at: folder) } }))
        }
    }

    private func take(_ results: [Result<DevPackage, BackplaneError>]) {
        let isFirst = composition == nil, before = composition?.products ?? []
        var read: Set<String> = []
        for result in results {
            switch result {
            case .success(let package):
                read.insert(package.path)
                packages.removeAll { $0.path == package.path }
                packages.append(package)
            case .failure(let error): printer.print(.refused(.init(subject: .package, error: error)))
            }
        }
        let document = command.settings.document
        compose(document)
        if isFirst { printer.print(.started(beginning)) }
        if hasKeys, isFirst { printer.hint(DevKey.legend) }
        let products = composition?.products ?? []
        // Of one that cannot be read nothing can be built.
        tell(.changed(products.filter { read.contains($0.package) }))
        // The manifest has named them before there were any.
        let new = products.filter { !before.contains($0) }
        if !isFirst, !new.isEmpty {
            newlyNamed.formUnion(new.map(\.library))
            tell(.manifest)
        }
        tell(.read)
    }

    /// What is built and watched from now on.
    private func compose(_ document: ManifestDocument) {
        let composition = DevComposition(document, packages, pluginPaths: command.pluginPaths(packages))
        self.composition = composition
        for path in composition.libraries where known[path] == nil { known[path] = stamp(of: path) }
        watching.watch(composition, packages: command.packageFolders, manifest: FilePath.absolute(command.settings.manifest)) { error in
            printer.print(.refused(.init(subject: .watching, error: error)))
        }
    }

    private var beginning: DevEvent.Beginning {
        let products = composition?.products ?? []
        let packages = packages.map { package in
            DevEvent.Beginning.Package(path: package.path, products: products.filter { $0.package == package.path }.map(\.name))
        }
        return .init(manifest: command.settings.manifest, packages: packages, libraries: composition?.others ?? [])
    }

    private func takeManifest() {
        let document = command.settings.document
        let errors = document.problems.filter { $0.severity == .error }
        guard errors.isEmpty else {
            let problems = errors.map { $0.report(in: command.settings.manifest) }
            let error = BackplaneError(.manifestMalformed, "\(command.settings.manifest) has \(counted(errors.count, "error"))")
            return printer.print(.refused(.init(subject: .manifest, error: error, problems: problems)))
        }
        let before = composition?.products ?? []
        compose(document)
        let new = (composition?.products ?? []).filter { !before.contains($0) }
        newlyNamed.formUnion(new.map(\.library))
        if !new.isEmpty { tell(.changed(new)) }
        tell(.manifest)
    }

    // MARK: Changes

    private func takeSources(_ changes: WatchedChanges) {
        let paths = watching.really(changes.paths), products = composition?.products ?? []
        let changed = changes.isComplete ? products.filter { product in paths.contains(where: product.isMade) } : products
        // Not what an editor wrote beside it and took away again.
        because.formUnion(paths.filter { (try? FileStatus(at: $0)) != nil })
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let altered = changes.isComplete ? packages.filter { paths.contains($0.manifest) }.map(\.path) : []
        let missing = command.packageFolders.filter { folder in
            !packages.contains { $0.path == folder } && paths.contains(FilePath.join(folder, "Package.swift"))
        }
        if !(altered + missing).isEmpty {
            readPackages(altered + missing)
        } else if !changed.isEmpty {
            tell(.changed(changed))
        }
        if paths.contains(FilePath.absolute(command.settings.manifest)) { takeManifest() }
    }

    private func takeLibraries(_ changes: WatchedChanges) {
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let libraries = composition?.libraries ?? []
        let new = (changes.isComplete ? changes.paths.intersection(libraries) : libraries).filter(isNew)
        if !new.isEmpty { tell(.libraries(new)) }
        let missing = composition?.missing ?? []
        if (changes.isComplete ? changes.paths.intersection(missing) : missing).contains(where: { stamp(of: $0).library != nil }) { takeManifest() }
    }

    /// Is there another library, whole, than the loop knows of? It knows it from then on.
    private func isNew(_ path: String) -> Bool {
        let stamp = stamp(of: path)
        guard stamp.library != nil, stamp != known[path] else { return false }
        known[path] = stamp
        if let build, build.product.library == path, let written = stamp.written, written >= build.began { builtIn[path] = written - build.began }
        return true
    }

    private func stamp(of path: String) -> ProductStamp {
        ProductStamp(library: path, resources: composition?.products.first { $0.library == path }?.resources ?? [])
    }

    // MARK: Builds

    private func start(_ product: DevPackage.Product) {
        do throws(BackplaneError) {
            let send = send
            build = try RunningBuild(product, after: lastBuilt, with: command.swiftPM, send)
            lastBuilt = product.package
            printer.print(.buildStarted(.init(product: product.name, package: product.package, because: because.sorted().prefix(8).map(\.self))))
            printer.progress("building \(product.name)")
            because = []
        } catch {
            printer.print(.refused(.init(subject: .build, error: error)))
            tell(.built(.failed))
        }
    }

    private func take(_ line: String) {
        guard let build else { return }
        switch BuildOutput.line(line) {
        case .progress(let text): printer.progress("building \(build.product.name) \(text)")
        case .ceremony: break
        case .text(let text):
            if let diagnostic = build.output.take(text) { printer.print(.diagnostic(.init(product: build.product.name, diagnostic: diagnostic))) }
        }
    }

    private func take(_ ending: ChildProcess.Ending) {
        guard let build else { return }
        let end = build.end(ending), library = build.product.library
        // Before the build is over for the loop: what is refused now may still fit what comes next.
        let isFresh = end == .succeeded && isNew(library)
        self.build = nil
        let outcome: DevEvent.BuildResult.Outcome = switch end {
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
        printer.clearProgress()
        printer.print(
            .buildEnded(
                .init(
                    product: build.product.name, outcome: outcome, seconds: Date().timeIntervalSince1970 - build.began,
                    isChanged: stamp(of: library) != build.before, isSwapped: loop.isHostUp, text: end == .cancelled ? [] : build.output.text)))
        if isFresh { tell(.libraries([library])) }
        tell(.built(end))
    }

    // MARK: The application

    private func startHost() {
        if let running = command.running {
            application = HostLink(after: application?.number ?? 0, running, send)
            return
        }
        do throws(BackplaneError) {
            var settings = command.settings
            settings.pluginPaths = command.pluginPaths(packages)
            application = try HostLink(after: application?.number ?? 0, settings, passesOutputOn: printer.json, send)
            printer.progress("starting")
        } catch {
            printer.print(.refused(.init(subject: .host, error: error)))
            tell(.hostEnded)
        }
    }

    /// One that somebody else has started is left alone.
    private func endHost() {
        guard application?.isForeign == true else { return application?.stop() ?? () }
        application = nil
        tell(.hostEnded)
    }

    private func take(_ news: HostProcess.News) {
        switch news {
        case .unreachable(let error):
            application = nil
            printer.print(.refused(.init(subject: .host, error: error)))
            tell(.hostEnded)
        case .up(let report):
            application?.isUp(report)
            printer.clearProgress()
            printer.print(.hostStarted(.init(isOwn: application?.isForeign == false, report: report)))
            tell(.hostUp)
        case .line(let text, let isError):
            printer.print(.output(.init(stream: isError ? .errors : .output, text: text)))
        case .ended(let ending):
            hasEnded(ending.text)
        }
    }

    private func hasEnded(_ how: String) {
        let isExpected = application?.isStopping ?? false
        application = nil
        lastSwapped = []
        printer.clearProgress()
        printer.print(.hostEnded(.init(isExpected: isExpected, how: how)))
        tell(.hostEnded)
    }

    private func take(_ answer: HostAnswer) {
        switch answer {
        case .swapped(let report):
            let libraries = report.plugins.map(\.library)
            if report.outcome == .unchanged {
                let asked = application?.asked ?? [], times = takeTimes(asked)
                if !newlyNamed.isSuperset(of: asked) { printer.print(.unchanged(.init(libraries: asked, builtIn: times))) }
                newlyNamed.subtract(asked)
            } else {
                lastSwapped = report.plugins.map(\.plugin)
                printer.print(.swapped(.init(builtIn: takeTimes(libraries), report: report)))
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
            application?.refusal = refusal
            return tell(.answered(isDone: false))
        }
        tell(.answered(isDone: true))
    }

    private func takeTimes(_ libraries: [String]) -> [String: Double] {
        var times: [String: Double] = [:]
        for library in libraries { times[library] = builtIn.removeValue(forKey: library) }
        return times
    }

    // MARK: A person

    private func take(_ key: DevKey) {
        switch key {
        case .rebuild: tell(.changed(composition?.products ?? []))
        case .rollBack:
            guard !lastSwapped.isEmpty else {
                return printer.print(.refused(.init(subject: .rollback, error: BackplaneError(.swapRefused, "nothing was swapped yet: there is nothing to roll back"))))
            }
            for plugin in lastSwapped { tell(.rollBack(plugin: plugin)) }
        case .generations: application?.listGenerations()
        case .startAnew: tell(.startAnew)
        case .help: printer.hint(DevKey.legend)
        case .quit: stop("q")
        }
    }

    private func stop(_ reason: String) {
        guard !isStopping else { return }
        isStopping = true
        watching.close()
        printer.clearProgress()
        printer.print(.stopped(.init(reason: reason)))
        build?.cancel()
        endHost()
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
