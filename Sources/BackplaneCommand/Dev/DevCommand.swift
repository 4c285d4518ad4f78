import Backplane
import BackplaneHost
import Glibc

/// `backplane dev`: builds plugins, runs them, and swaps what is saved.
struct DevCommand: Sendable {
    var settings: HostSettings
    /// Further packages to build and watch.
    var packages: [String] = []
    var swiftPM = SwiftPM()
    /// A host that runs already, to be swapped into; `nil`: one is started.
    var running: HostChoice?
    var json = false

    func run() async -> Int32 {
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

    /// The running host that is asked for; `nil`: none.
    static func running(_ isAsked: Bool, _ socket: String?, _ settings: HostSettings) -> HostChoice? {
        guard isAsked || socket != nil else { return nil }
        return HostChoice(socket: socket, manifest: socket == nil ? settings.manifest : nil)
    }

    /// The packages to build: those that were asked for, and the one that the manifest lies in.
    var packageFolders: [String] {
        let around = Self.package(around: FilePath.folder(of: FilePath.absolute(settings.manifest)))
        var seen: Set<String> = []
        return ([around].compactMap(\.self) + packages.map(FilePath.absolute)).filter { seen.insert($0).inserted }
    }

    /// Where libraries are looked for: where they are built before anything else.
    var pluginPaths: [String] {
        var seen: Set<String> = []
        return (packageFolders.map(swiftPM.libraries) + settings.pluginPaths).filter { seen.insert($0).inserted }
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
