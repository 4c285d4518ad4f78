import Backplane
import BackplaneControl
import BackplaneHost
import BusyLoop
import Glibc
import Synchronization

/// A host program whose plugin keeps every thread of Swift's pool, in a process of its own since that holds up
/// everything else.
///
///     occupied-pool library METHOD FOLDER
///     occupied-pool asked FOLDER
///     occupied-pool stopped FOLDER
///
/// It makes one call more than a pool has threads, ends them when the log says that the pool is occupied, and prints
/// what the log said. Something else may occupy the pool first, on a busy machine the program's own start: then it
/// begins again, until its plugin is a candidate. `asked` asks its control socket meanwhile, and prints what was
/// answered; `stopped` stops the host meanwhile, and prints what the log says was left.
@main
struct OccupiedPool {
    static func main() async throws {
        // Without the process that started this one, its plugin would spin for ever.
        alarm(300)
        let arguments = CommandLine.arguments
        if arguments[1] == "asked" { return try await beAsked(in: arguments[2]) }
        if arguments[1] == "stopped" { return try await beStopped(in: arguments[2]) }
        for _ in 0..<20 {
            let (candidates, over) = try await hold(arguments[2], until: arguments[3] + "/enough")
            guard candidates.contains("busy-loop") else { continue }
            print(candidates, over, separator: "\n")
            return
        }
        exit(1)
    }

    /// Holds every thread of the pool until the host has answered what it is asked, and prints the answers.
    private static func beAsked(in folder: String) async throws {
        for _ in 0..<20 {
            let answers = Mutex<[String]>([])
            let (candidates, _) = try await hold(
                "spin", until: folder + "/enough", listeningIn: folder + "/run"
            ) { _, socket in
                let lines = asked(socket, file: folder + "/enough")
                answers.withLock { $0 = lines }
                return true
            }
            guard candidates.contains("busy-loop") else { continue }
            print(answers.withLock { $0 }.joined(separator: "\n"))
            return
        }
        exit(1)
    }

    /// Stops a host while its plugin holds every thread of the pool, and prints what was left.
    private static func beStopped(in folder: String) async throws {
        for _ in 0..<20 {
            let left = Mutex<[String]>([]), isStopped = Mutex(false)
            let (candidates, _) = try await hold(
                "block", until: folder + "/enough",
                meanwhile: { host, _ in
                    CallingThread().run { await host.stop() }
                    isStopped.withLock { $0 = true }
                    return false
                },
                left: { record in
                    left.withLock { $0.append("\(record.metadata["component"] ?? "the host"): \(record.message)") }
                })
            guard candidates.contains("busy-loop") else { continue }
            print("stopped \(isStopped.withLock { $0 })", left.withLock { $0 }.joined(separator: "\n"), separator: "\n")
            return
        }
        exit(1)
    }

    /// What a control socket answers while the file is not there: to requests that need no plugin, one that needs the
    /// coordinator, and one that plugins keep waiting.
    private static func asked(_ socket: String, file: String) -> [String] {
        let client = ControlClient(socket)
        func line(_ ask: () throws -> String) -> String { (try? ask()) ?? "no answer" }
        func code(_ manager: String, _ timeout: Double) -> String {
            do {
                return try client.ask(
                    CallRequest(manager: manager, method: "block", input: "\"\(file)\"", timeout: .seconds(timeout))
                ).output
            } catch { return error.code.rawValue }
        }
        return [
            line { "process \(try client.greet().process == getpid())" },
            line { "statistics \(try client.ask(StatisticsRequest()).components.count >= 0)" },
            code("Nobody", 60), code("BusyLoop", 0.1),
        ]
    }

    /// What the log said: who may occupy the pool, and the record of when it was over.
    ///
    /// - Parameters:
    ///   - folder: where the host listens; `nil`: it does not.
    ///   - meanwhile: done with the host and the path of its socket while no task can do anything; returns whether the
    ///     host will say when that is over.
    ///   - left: gets what the log says is left when the host has stopped.
    private static func hold(
        _ method: String, until file: String, listeningIn folder: String? = nil,
        meanwhile: @escaping @Sendable (PluginHost, String) -> Bool = { _, _ in true },
        left: @escaping @Sendable (LogRecord) -> Void = { _ in }
    ) async throws -> (candidates: String, over: String) {
        let reached = Mutex<(host: PluginHost, socket: String)?>(nil)
        unlink(file)
        let (records, record) = AsyncStream.makeStream(of: LogRecord.self)
        let manifest = Manifest(
            plugins: [PluginReference(library: "_BusyLoop")],
            managers: ["BusyLoop": ManagerDefinition(className: "BusyLoop")])
        let log = HostLog { line in
            guard line.level == .warning else { return left(line) }
            // On the watchdog's thread: no task can do anything now.
            var goesOn = true
            if line.metadata["waited"] != nil {
                if let (host, socket) = reached.withLock({ $0 }) { goesOn = meanwhile(host, socket) }
                _ = close(creat(file, 0o600))
            }
            record.yield(line)
            if !goesOn { record.finish() }
        }
        let host = PluginHost(
            manifest: manifest, plugins: [],
            options: HostOptions(log: log, stopLimit: .milliseconds(200), occupationLimit: .milliseconds(200)))
        let busyLoop: Remote<BusyLooping> = try await host.manager("BusyLoop")
        let control = try folder.map { try ControlSocket(serving: host, in: $0) }
        reached.withLock { $0 = (host, control?.path ?? "") }
        defer { control?.close() }
        await withTaskGroup { group in
            for _ in 0...sysconf(Int32(_SC_NPROCESSORS_ONLN)) {
                group.addTask { @concurrent in
                    _ = try? await (method == "block" ? busyLoop.block(file) : busyLoop.spin(file))
                }
            }
        }
        var iterator = records.makeAsyncIterator()
        let occupied = await iterator.next(), over = await iterator.next()
        await host.stop()
        return (
            occupied?.metadata["candidates"] ?? "",
            "\(over?.message ?? "nothing"): \(over?.metadata["candidates"] ?? "")"
        )
    }
}

/// Hands over the host's own warnings and errors.
private struct HostLog: LogSink {
    let handOver: @Sendable (LogRecord) -> Void

    func isEnabled(_ level: Log.Level) -> Bool { level >= .warning }
    func write(_ record: LogRecord) {
        if record.source == "host", record.level >= .warning { handOver(record) }
    }
}
