import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools
import BookshelfContracts
import Glibc

extension BackplaneTool {
    struct Demo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run the example application against a local server.",
            discussion: """
                Starts bookshelf-server on a free loopback port, runs manifests/bookshelf-both.json against it, \
                searches in both versions of its API, borrows a book, stops the server and searches again. Leaves \
                nothing behind.

                EXAMPLES
                  backplane demo
                """)

        func run() async throws { throw ExitCode(await DemoCommand().run()) }
    }
}

/// The command `backplane demo`: guides newcomers through the example application, against a real server.
///
/// It leaves no files or processes behind.
struct DemoCommand: Sendable {
    func run() async -> Int32 {
        do {
            let signals = try StopSignals(), folder = try TemporaryFolder(for: "demo")
            defer { folder.remove() }
            let work = Task { try await show(in: folder.path) }
            // An interrupted demo ends with its current step and cleans up. It does not wait longer than a second; the
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
        let server = try BookshelfServer(beside: program)
        defer { server.stop() }
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
        Output.line("Read on: README.md, manifests/bookshelf-both.json, Plugins/Bookshelf; or see it as a graph:")
        Output.line("backplane graph manifests/bookshelf-both.json")
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
        server.stop()
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
}
