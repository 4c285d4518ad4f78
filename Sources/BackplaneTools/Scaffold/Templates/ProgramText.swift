/// The sources of a program that embeds a host.
enum ProgramText {
    /// Returns the source of the program.
    ///
    /// - Parameter layers: The manager that the program calls after startup, with its collaborators.
    static func program(_ layers: ManagerLayers) -> String {
        """
        import Backplane
        import BackplaneControl
        import BackplaneHost
        import BackplaneURLSession
        import Glibc
        \(layers.importsContracts)
        /// A program that runs a manifest, by default `backplane.json` in the current folder, until SIGINT or SIGTERM.
        @main
        struct Program {
            static func main() async {
                // Created first, so that no signal is missed.
                let signals = StopSignals()
                let manifest = ManifestDocument(contentsOf: CommandLine.arguments.dropFirst().first ?? "backplane.json")
                // For other people's servers, use AsyncHTTPClientExecutor of BackplaneHTTP (trait Engines).
                let host = PluginHost(manifest: manifest, options: HostOptions(executors: [URLSessionExecutor()]))
                var status: Int32 = 0
                do {
                    // Without enough open files and threads, Foundation would end the program later.
                    try ProcessNeeds.require()
                    // The socket through which `backplane swap` and similar commands control the program.
                    let control = try ControlSocket(serving: host)
                    do { try await run(host, until: signals) } catch { status = fail(error) }
                    control.close()
                    await host.stop()
                    // Waiting callers are notified that the host has stopped.
                    for request in await control.finish() { complain("a client did not read its answer: \\(request)") }
                } catch {
                    status = fail(error)
                }
                exit(status)
            }

            private static func run(_ host: PluginHost, until signals: StopSignals) async throws {
                try await host.start()
                let manager = try await host.manager("\(layers.manager)", as: \(layers.contract).self)
                for item in try await manager.items() { say("\\(item.id): \\(item.text)") }
                say("up; stop with control-C")
                await signals.next()
                say("stopping")
            }

            private static func fail(_ error: any Error) -> Int32 {
                complain((error as? BackplaneError)?.detailedDescription ?? "\\(error)")
                return 1
            }

            /// Prints a line immediately, even if the output is a pipe or a file.
            private static func say(_ line: String) {
                print(line)
                fflush(nil)
            }

            private static func complain(_ text: String) {
                let bytes = Array("\(layers.name): \\(text)\\n".utf8)
                _ = write(STDERR_FILENO, bytes, bytes.count)
            }
        }

        """
    }

    /// The source of the type that waits for signals.
    static let stopSignals = """
        import Dispatch
        import Glibc

        /// The signals SIGINT and SIGTERM as events.
        struct StopSignals {
            private let events: AsyncStream<Void>
            private let sources: [any DispatchSourceSignal]

            init() {
                let (events, event) = AsyncStream.makeStream(of: Void.self)
                self.events = events
                sources = [SIGINT, SIGTERM].map { number in
                    // The default action would end the process.
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number)
                    source.setEventHandler { event.yield() }
                    source.resume()
                    return source
                }
            }

            /// Waits for a signal, including one that has already arrived.
            func next() async {
                for await _ in events { return }
            }
        }

        """
}
