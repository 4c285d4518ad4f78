import ArgumentParser
import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneTools
import BookshelfContracts
import Foundation

extension BackplaneTool {
    struct Demo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demo",
            abstract: "Run the example application against a local server.",
            discussion: """
                Starts bookshelf-server on a free loopback port, runs manifests/bookshelf-both.json against it, \
                searches in both versions of its API, borrows a book, stops the server and searches again. Leaves \
                nothing behind.

                EXAMPLES
                  backplane demo
                """)

        func run() async throws { throw ExitCode(await DemoTour().run()) }
    }
}

/// The tour of the example application for newcomers, against a real server, which leaves no files or processes behind.
private struct DemoTour: Sendable {
    func run() async -> Int32 {
        do {
            let signals = try StopSignals(), folder = try TemporaryFolder(for: "demo")
            defer { folder.remove() }
            let work = Task { try await show(in: folder.path) }
            // An interrupted demo ends after its current step and cleans up. It waits at most a second, because the
            // server ends with this process.
            let interruption = Task {
                guard await signals.next() != nil else { return }
                work.cancel()
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                folder.removeInUse()
                _exit(130)
            }
            defer { interruption.cancel() }
            let outcome = await work.result
            if work.isCancelled { return 130 }
            try outcome.get()
            return 0
        } catch {
            return Output.fail(error)
        }
    }

    private func show(in folder: String) async throws {
        let program = Program.folder
        let path = try DemoManifest.find(from: program)
        Output.line("BACKPLANE DEMO: one application through all four layers")

        step(1, "A book server starts on a free port of this machine.")
        let server = try await BookshelfServer(beside: program)
        say("bookshelf-server, process \(server.processIdentifier), \(server.url)")

        step(2, "A host reads the manifest, loads the libraries it names and wires their components.")
        let manifest = try DemoManifest.read(path, server: server.url)
        let settings = HostSettings(
            manifest: path, pluginPaths: [program], loadFolder: folder + "/load", data: folder + "/data")
        let host = PluginHost(manifest: manifest, options: settings.makeOptions())
        do {
            try await host.start()
            for line in Table(await host.managers).lines(colour: Terminal.wantsColour) { say(line) }
            step(3, "Two versions of one class are loaded in this process; each manager uses the one that it requests.")
            showServices(await host.composition())
            try await visit(host, server)
        } catch {
            await host.stop()
            await server.stop()
            throw error
        }
        await host.stop()
        step(
            8,
            "Under load: four callers pass a turnstile as fast as they can, while its library is swapped twenty times with its state."
        )
        try await showSwaps(in: folder)
        Output.line(
            "\nThe hosts have stopped their components in the reverse order of their start, and nothing is left behind."
        )
        if let remark = Engines.remark {
            Output.line("\(remark.prefix(1).uppercased() + remark.dropFirst()).")
            Output.line("`make build` adds AsyncHTTPClient, with HTTP/2, and SQLite, whose records survive.")
        }
        Output.line("Read on: README.md, manifests/bookshelf-both.json, Plugins/Bookshelf; or see it as a graph:")
        Output.line("\(CommandLine.arguments[0]) graph manifests/bookshelf-both.json")
        offerScreens()
    }

    /// Prints how to try the screens of the library, with and without the server.
    private func offerScreens() {
        // Without engines there is no web server.
        let (place, option) = Engines.remark == nil ? ("browser", "--web") : ("terminal", "--terminal")
        let run = "\(CommandLine.arguments[0]) run manifests/bookshelf-screens.json \(option)"
        Output.line("The library also has screens, which you can try in a \(place):")
        Output.line("\(Program.folder)/bookshelf-server --port 8484 &")
        Output.line(run)
        Output.line("Without the server, mocks show three books, and lend Moby-Dick whichever you borrow:")
        Output.line("\(run) --mock manifests/mocks")
    }

    private func visit(_ host: PluginHost, _ server: BookshelfServer) async throws {
        let library = try await host.manager("LibraryManager", as: Library.self)
        let readingRoom = try await host.manager("ReadingRoomManager", as: Library.self)
        let query = BookQuery(text: "the whale")

        step(4, "Both search for `\(query.text)`: manager → communication controller → network service → server.")
        Output.line("   LibraryManager, over version 2 of the API, which includes the authors' years:")
        let found = try await library.search(query, host.begin(within: .seconds(60)))
        list(found)
        Output.line("\n   ReadingRoomManager, over version 1, at the same time:")
        list(try await readingRoom.search(query, host.begin(within: .seconds(60))))

        step(
            5, "A book is borrowed. The host signs in for it; the clock that counts the days is a plugin in plain C."
        )
        guard let book = found.value.first(where: { $0.id == "moby-dick" }) ?? found.value.first else {
            throw BackplaneError(.componentFailed, "the server has no book about \(query.text)")
        }
        let loan = try await library.borrow(book.id, host.begin(within: .seconds(60)))
        say("`\(book.title)` is ours for \(loan.daysLeft.map { "\($0) days" } ?? "a while"), loan \(loan.id)")

        step(6, "The server is stopped.")
        await server.stop()
        say("process \(server.processIdentifier) has ended")

        step(
            7,
            "The same search again: the network fails, so the data access controller returns its copy, marked as such."
        )
        list(try await library.search(query, host.begin(within: .seconds(60))))
    }

    private func step(_ number: Int, _ text: String) {
        Output.line("\n\(number). \(text)")
    }

    func say(_ text: String) {
        Output.line("   \(text)")
    }

    // MARK: Tables

    /// Lists the version of the network service that each manager uses, and the versions to choose from.
    func showServices(_ composition: Composition) {
        let rows = composition.managerNames.flatMap { manager in
            composition.document.definitions(of: manager).filter { $0.role == .networkService }.map { service in
                let choice = VersionChoice(service, in: composition)
                return [
                    manager, service.className, service.range?.description ?? "any",
                    choice.entry?.component.version.description ?? "-",
                    choice.passedOver.map { "\($0.version), \($0.because)" }.joined(separator: "; "),
                ]
            }
        }
        show(["MANAGER", "NETWORK SERVICE", "ASKS FOR", "HAS", "PASSED OVER"], rows)
    }

    func list(_ books: Sourced<[Book]>) {
        let rows = books.value.map { book in
            [book.title.shortened(to: 60), book.authors.map(\.withYears).joined(separator: ", "), "\(book.year)"]
        }
        show(["TITLE", "AUTHORS", "YEAR"], rows)
        switch books.source {
        case .network: say("from: network")
        case .store(let age): say("from: store, kept \(Int(age / .milliseconds(1))) ms ago")
        }
    }

    private func show(_ header: [String], _ rows: [[String]]) {
        for line in Table(header, rows.map { $0.map { Span($0) } }).lines(colour: Terminal.wantsColour) { say(line) }
    }

    // MARK: Swaps under load

    /// Swaps a library while callers call it at full speed, and reports the outcome of every call.
    func showSwaps(in folder: String) async throws {
        let swaps = 20, editions = [try RebuiltLibrary.built("Turnstile1"), try RebuiltLibrary.built("Turnstile2")]
        let (reports, accounts, final) = try await TurnstileHost.with(
            editions, in: folder + "/swap", loads: folder + "/load"
        ) { swapped in
            let (reports, accounts) = try await SwapLoad.with(4, at: swapped) { _ in
                var reports: [ChangeReport] = []
                for _ in 0..<swaps {
                    reports.append(try await swapped.swap().report)
                    try await Task.sleep(for: .milliseconds(20))
                }
                return reports
            }
            return (reports, accounts, try await swapped.count())
        }
        // The count includes one call more than the callers have made.
        let missing = abs(final - 1 - accounts.reduce(0) { $0 + $1.own })
        for (number, account) in accounts.enumerated() {
            say(
                "caller \(number + 1): \(account.answered) calls answered, \(account.failed) failed, \(account.twice) made twice, \(account.wrong) by the wrong code"
            )
        }
        let held = reports.reduce(0) { $0 + $1.callsHeld }, longest = reports.map(\.longestWait).max() ?? .zero
        say(
            "\(swaps) swaps between two builds; the count continued across the builds up to \(final), and "
                + "\(missing) calls are missing"
        )
        say(
            "\(held) calls arrived while the state was carried over and waited, the longest \(Self.text(longest.milliseconds)) ms; a swap took \(Self.text(Self.median(reports.map(\.duration.milliseconds)))) ms"
        )
    }

    private static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted(), middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func text(_ milliseconds: Double) -> String { "\((milliseconds * 100).rounded() / 100)" }
}

extension Author {
    /// The name with the years of birth and death, if they are known.
    fileprivate var withYears: String {
        guard born != nil || died != nil else { return name }
        return "\(name) (\(born.map { "\($0)" } ?? "?")–\(died.map { "\($0)" } ?? ""))"
    }
}

/// The example's server in a child process that ends with this process.
private struct BookshelfServer: Sendable {
    /// The address at which the server listens: `http://127.0.0.1:PORT`.
    let url: String
    private let process: ChildProcess
    /// The lines that the server prints, which end with it.
    private let lines: AsyncStream<String>

    /// Starts the server on a free loopback port and returns once it listens.
    ///
    /// - Parameter folder: The folder that contains the server's executable.
    /// - Throws: `BackplaneError` if the executable is missing, or if the server ends without listening.
    init(beside folder: String) async throws(BackplaneError) {
        let path = folder + "/bookshelf-server", (lines, line) = AsyncStream.makeStream(of: String.self)
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BackplaneError(
                .pluginNotFound, "the example server is missing next to this program; build it with `swift build`",
                at: path)
        }
        process = try ChildProcess(
            path, ["--port", "0", "--stop-with-parent"],
            outlets: [ChildProcess.Outlet(descriptor: STDOUT_FILENO) { line.yield($0) }]
        ) { _ in line.finish() }
        self.lines = lines
        guard let first = await lines.first(where: { _ in true }), let start = first.range(of: "http://") else {
            process.send(SIGTERM)
            throw BackplaneError(
                .pluginNotFound, "the example server ended without printing its address", at: path)
        }
        url = String(first[start.lowerBound...])
    }

    var processIdentifier: Int32 { process.id }

    /// Stops the server and waits until it has exited.
    func stop() async {
        process.send(SIGTERM)
        for await _ in lines {}
    }
}

/// The manifest `manifests/bookshelf-both.json`, with the address of the demo's server.
private enum DemoManifest {
    /// Returns the manifest's path, searching the current folder, then the folders above this program.
    static func find(from program: String) throws(BackplaneError) -> String {
        let name = "manifests/bookshelf-both.json"
        var folders = [FileManager.default.currentDirectoryPath]
        var folder = URL(filePath: program)
        while folder.path != "/" {
            folders.append(folder.path)
            folder.deleteLastPathComponent()
        }
        guard let found = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.fileExists) else {
            throw BackplaneError(
                .manifestUnreadable,
                "\(name) is neither in the current folder nor above this program; run the demo from a checkout",
                at: name)
        }
        return found
    }

    static func read(_ path: String, server: String) throws(BackplaneError) -> Manifest {
        var manifest = try Manifest(contentsOf: path)
        for name in manifest.managers.keys {
            guard var controller = manifest.managers[name]?.communicationController else { continue }
            for index in controller.services.indices {
                // Keep the path of the URL, `/v1` or `/v2`.
                guard case .string(let url) = controller.services[index].configuration["baseURL"] else {
                    continue
                }
                controller.services[index].configuration["baseURL"] = .string(
                    server + (URL(string: url)?.path ?? ""))
            }
            manifest.managers[name]?.communicationController = controller
        }
        for (name, credential) in manifest.network.credentials {
            manifest.network.credentials[name] = credential.asking(server)
        }
        return manifest
    }
}

extension Credential {
    /// Returns the credential with a sign-in at another server, with the same path.
    fileprivate func asking(_ server: String) -> Credential {
        guard case .bearer(var source) = scheme, let url = source.signIn?.url else { return self }
        source.signIn?.url = server + (URL(string: url)?.path ?? "")
        var credential = self
        credential.scheme = .bearer(source)
        return credential
    }
}

/// The location of the running program.
private enum Program {
    /// The folder of the running executable, with symbolic links resolved.
    static var folder: String {
        let path =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: path).deletingLastPathComponent().path
    }
}
