import Backplane
package import BackplaneControl
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import Glibc

/// `backplane dev`: builds plugins, runs them, and swaps what is saved.
package struct DevCommand: Sendable {
    package var settings: DevSettings
    /// Further packages to build and watch.
    package var packages: [String]
    package var swiftPM: SwiftPM
    /// A host that runs already, to be swapped into; `nil`: one is started.
    package var running: HostChoice?
    package var json: Bool

    package init(settings: DevSettings, packages: [String] = [], swiftPM: SwiftPM = SwiftPM(), running: HostChoice? = nil, json: Bool = false) {
        (self.settings, self.packages, self.swiftPM) = (settings, packages, swiftPM)
        (self.running, self.json) = (running, json)
    }

    package func run() async -> Int32 {
        if let code = refuse() { return code }
        let (stream, send) = AsyncStream.makeStream(of: DevNews.self)
        let signals = StopSignals([SIGINT, SIGTERM, SIGHUP], beforeDying: KeyReader.restoreTerminal)
        let stops = Task {
            while let signal = await signals.next() { send.yield(.stop(signal)) }
        }
        defer { stops.cancel() }
        OutputReader.watch { send.yield(.stop("nobody reads this any more")) }
        // Standard output is the events' alone.
        if !json { KeyReader.begin { send.yield(DevNews($0)) } }
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

    /// A manifest may come later, and what the packages around it are may change; one that was named is meant.
    private func refuse() -> Int32? {
        for package in packages where !isThere(FilePath.join(package, "Package.swift")) {
            return Output.refuse("--package: expected a folder with a Package.swift, found \(isThere(package) ? "none" : "nothing") at \(package.printable)")
        }
        return nil
    }

    private func isThere(_ path: String) -> Bool { (try? FileStatus(at: path)) != nil }

    /// The running host that is asked for; `nil`: none.
    package static func running(_ isAsked: Bool, _ socket: String?, _ settings: DevSettings) -> HostChoice? {
        guard isAsked || socket != nil else { return nil }
        return HostChoice(socket: socket, manifest: socket == nil ? settings.manifest : nil)
    }

    /// The packages to build: those that were asked for, and the one that the manifest lies in by now.
    var packageFolders: [String] {
        let around = Self.package(around: FilePath.folder(of: FilePath.absolute(settings.manifest)))
        var seen: Set<String> = []
        return ([around].compactMap(\.self) + packages.map(FilePath.absolute)).filter { seen.insert($0).inserted }
    }

    /// Where libraries are looked for: where these packages are built before anything else.
    func pluginPaths(of packages: [String]) -> [String] {
        var seen: Set<String> = []
        return (packages.map(swiftPM.libraries) + settings.pluginPaths).filter { seen.insert($0).inserted }
    }

    /// The nearest folder with a `Package.swift`, from here upwards.
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
