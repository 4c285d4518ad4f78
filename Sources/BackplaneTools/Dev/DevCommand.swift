import Backplane
package import BackplaneControl
package import BackplaneHost
import Glibc

/// The command `backplane dev`: builds plugins, runs the application, and swaps plugins when their sources are saved.
package struct DevCommand: Sendable {
    package var settings: DevSettings
    /// The folders of additional packages to build and watch.
    package var packages: [String]
    package var swiftPM: SwiftPM
    /// The running host to swap into, or `nil` to start one.
    package var running: HostChoice?
    package var json: Bool

    package init(
        settings: DevSettings, packages: [String] = [], swiftPM: SwiftPM = SwiftPM(), running: HostChoice? = nil,
        json: Bool = false
    ) {
        (self.settings, self.packages, self.swiftPM) = (settings, packages, swiftPM)
        (self.running, self.json) = (running, json)
    }

    package func run() async -> Int32 {
        if let code = refuse() { return code }
        let (stream, send) = AsyncStream.makeStream(of: DevNews.self)
        let signals: StopSignals
        do throws(BackplaneError) {
            signals = try StopSignals([SIGINT, SIGTERM, SIGHUP], beforeDying: KeyReader.restoreTerminal)
        } catch {
            return Output.fail(error)
        }
        let stops = Task {
            while let signal = await signals.next() { send.yield(.stop(signal)) }
        }
        defer { stops.cancel() }
        OutputReader.watch { send.yield(.stop("standard output was closed")) }
        // With `json`, standard output is for events only.
        if !json { KeyReader.begin { send.yield($0) } }
        defer { KeyReader.restoreTerminal() }
        let printer = DevPrinter(json: json)
        let session = DevSession(self, printer) { send.yield($0) }
        session.begin()
        for await news in stream {
            guard session.take(news) else { continue }
            return printer.finish() ? 0 : 1
        }
        return 0
    }

    /// Refuses packages without a Package.swift.
    ///
    /// A missing manifest is accepted, because it and its package may be created later.
    private func refuse() -> Int32? {
        for package in packages where !isThere(FilePath.join(package, "Package.swift")) {
            return Output.refuse(
                "--package: expected a folder with a Package.swift, found \(isThere(package) ? "none" : "nothing") at \(package.printable)"
            )
        }
        return nil
    }

    private func isThere(_ path: String) -> Bool { (try? FileStatus(at: path)) != nil }

    /// Returns the running host that the options request, or `nil` if they request none.
    package static func running(_ isAsked: Bool, _ socket: String?, _ settings: DevSettings) -> HostChoice? {
        guard isAsked || socket != nil else { return nil }
        return HostChoice(socket: socket, manifest: socket == nil ? settings.manifest : nil)
    }

    /// The folders of the packages to build: the manifest's own package, if any, then the requested ones.
    var packageFolders: [String] {
        let around = Self.package(around: FilePath.folder(of: FilePath.absolute(settings.manifest)))
        var seen: Set<String> = []
        return ([around].compactMap(\.self) + packages.map(FilePath.absolute)).filter { seen.insert($0).inserted }
    }

    /// Returns the folders in which to search for libraries, the packages' build folders first.
    func pluginPaths(of packages: [String]) -> [String] {
        var seen: Set<String> = []
        return (packages.map(swiftPM.libraries) + settings.pluginPaths).filter { seen.insert($0).inserted }
    }

    /// Returns the nearest folder with a `Package.swift`, starting with the given one and searching upwards.
    static func package(around folder: String) -> String? {
        var folder = folder
        while true {
            if (try? FileStatus(at: FilePath.join(folder, "Package.swift")))?.kind == .file { return folder }
            let parent = FilePath.folder(of: folder)
            guard parent != folder else { return nil }
            folder = parent
        }
    }
}

/// The application to run: its manifest, and the arguments for the hidden command that creates its host.
package struct DevSettings: Sendable {
    /// The path of the manifest.
    package var manifest: String
    /// The manifest's environment; `nil` means `$BACKPLANE_ENVIRONMENT`, and an empty string means none.
    package var environment: String?
    package var pluginPaths: [String]
    /// Additional options of the hidden command, in the form `--name=value`.
    package var options: [String]
    /// The options of all swaps; `nil` leaves them to the host.
    package var swaps: ChangeOptions?
    /// A Boolean value that indicates whether a debugger will attach to the application.
    package var isDebugged = false
    /// The function that reads the manifest.
    package var read: @Sendable () -> ManifestDocument

    package init(
        manifest: String, environment: String?, pluginPaths: [String], options: [String],
        read: @escaping @Sendable () -> ManifestDocument
    ) {
        (self.manifest, self.environment, self.pluginPaths) = (manifest, environment, pluginPaths)
        (self.options, self.read) = (options, read)
    }

    /// The manifest, read on each access.
    package var document: ManifestDocument { read() }

    /// A Boolean value that indicates whether a swap takes place once the calls that hold it up have ended.
    ///
    /// This is the case unless the policy is to fail the swap or to cancel the calls.
    package var waitsForLongCalls: Bool {
        if case .retry = (swaps?.drain ?? document.manifest.swap.drain).fallback { true } else { false }
    }

    /// The options of the next swap; `nil` leaves them to the host.
    ///
    /// The next save waits for the swap. Unless the options or the manifest specify otherwise, the swap therefore waits
    /// for long calls no longer than 10 s.
    package var swapOptions: ChangeOptions? {
        guard swaps?.drain == nil, document.manifest.swap.drain == .standard else { return swaps }
        var options = swaps ?? ChangeOptions()
        options.drain = .upTo(DrainPolicy.standard.limit, then: .retry(attempts: 100, within: .seconds(10)))
        return options
    }

    /// The arguments of the hidden command.
    package var arguments: [String] {
        (environment.map { ["--environment=\($0)"] } ?? []) + (isDebugged ? ["--debug"] : []) + options
            + pluginPaths.map { "--plugin-path=\($0)" } + [
                "--", manifest,
            ]
    }
}
