/// The sources of a program with a host in it.
enum ProgramText {
    /// - Parameter layers: those of the manager that it asks first.
    static func program(_ layers: ManagerLayers) -> String {
        """
        import Backplane
        import BackplaneControl
        import BackplaneHost
        import BackplaneURLSession
        import Glibc
        \(layers.importsContracts)
        /// Runs the given manifest, or `backplane.json` in the current folder, until SIGINT or SIGTERM.
        @main
        struct Program {
            static func main() async {
                // This comes first, so that no signal is missed.
                let signals = StopSignals()
                let manifest = ManifestDocument(contentsOf: CommandLine.arguments.dropFirst().first ?? "backplane.json")
                // For servers that you do not control, use AsyncHTTPClientExecutor from BackplaneHTTP, with the trait Engines.
                let host = PluginHost(manifest: manifest, options: HostOptions(executors: [URLSessionExecutor()]))
                do {
                    try await run(host, until: signals)
                    await host.stop()
                } catch {
                    complain((error as? BackplaneError)?.detailedDescription ?? "\\(error)")
                    await host.stop()
                    exit(1)
                }
            }

            private static func run(_ host: PluginHost, until signals: StopSignals) async throws {
                // `backplane swap` and similar commands control the program through this socket.
                let control = try ControlSocket(serving: host)
                defer { control.close() }
                try await host.start()
                let manager = try await host.manager("\(layers.manager)", as: \(layers.contract).self)
                for item in try await manager.items() { say("\\(item.id): \\(item.text)") }
                say("up; stop with control-C")
                await signals.next()
                say("stopping")
            }

            /// Prints a line immediately, even if standard output is a pipe.
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

    static let stopSignals = """
        import Dispatch
        import Glibc

        /// The signals SIGINT and SIGTERM, which can be waited for.
        struct StopSignals {
            private let events: AsyncStream<Void>
            private let sources: [any DispatchSourceSignal]

            init() {
                let (events, event) = AsyncStream.makeStream(of: Void.self)
                self.events = events
                sources = [SIGINT, SIGTERM].map { number in
                    // Otherwise the signal would end the process before its source receives it.
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number)
                    source.setEventHandler { event.yield() }
                    source.resume()
                    return source
                }
            }

            /// Waits for a signal, which may have arrived already.
            func next() async {
                for await _ in events { return }
            }
        }

        """
}
