import Backplane
import BackplaneControl
import BackplaneHost
import BusyLoopModule
import Glibc
import Synchronization

/// A host program whose plugin keeps every thread of Swift's pool, in a process of its own since that holds up
/// everything else.
///
///     occupied-pool linked|library METHOD FOLDER
///     occupied-pool asked FOLDER
///     occupied-pool idle
///
/// It makes one call more than a pool has threads, ends them when the log says that the pool is occupied, and prints
/// what the log said. Something else may occupy the pool first, on a busy machine the program's own start: then it
/// begins again, until its plugin is a candidate. `asked` asks its control socket meanwhile, and prints what was
/// answered.
@main
struct OccupiedPool {
    static func main() async throws {
        alarm(300)  // whoever started it may be gone, and its plugin would spin for ever
        let arguments = CommandLine.arguments
        if arguments[1] == "idle" { return await idle() }
        if arguments[1] == "asked" { return try await beAsked(in: arguments[2]) }
        for _ in 0..<20 {
            let (candidates, over) = try await hold(
                linked: arguments[1] == "linked", arguments[2], until: arguments[3] + "/enough")
            guard candidates.contains("busy-loop") else { continue }
            print(candidates, over, separator: "\n")
            return
        }
        exit(1)
    }

    /// Watches a pool with nothing to do until a number of jobs have begun, and prints what the log said.
    private static func idle() async {
        let (looks, look) = AsyncStream.makeStream(of: Int.self)
        let watchdog = Watchdog(limit: .seconds(2), log: WarningLog { print($0) }) { look.yield($0) }
        watchdog.start()
        var begun = 0
        for await jobs in looks {
            begun += jobs
            if begun >= 20 { break }
        }
        watchdog.retire()
        print("nothing more")
    }

    /// Holds every thread of the pool until the host has answered what it is asked, and prints the answers.
    private static func beAsked(in folder: String) async throws {
        for _ in 0..<20 {
            let answers = Mutex<[String]>([])
            let (candidates, _) = try await hold(
                linked: false, "spin", until: folder + "/enough", listeningIn: folder + "/run"
            ) { socket in
                let lines = asked(socket, file: folder + "/enough")
                answers.withLock { $0 = lines }
            }
            guard candidates.contains("busy-loop") else { continue }
            print(answers.withLock { $0 }.joined(separator: "\n"))
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
                    CallRequest(manager: manager, method: "block", input: "\"\(file)\"", timeout: timeout)
                ).output
            } catch { return error.code.rawValue }
        }
        return [
            line { "process \(try client.greet().process == getpid())" },
            line { "statistics \(try client.ask(StatisticsRequest()).count >= 0)" },
            code("Nobody", 60), code("BusyLoop", 0.1),
        ]
    }

    /// What the log said: who may occupy the pool, and the record of when it was over.
    ///
    /// - Parameters:
    ///   - folder: where the host listens; `nil`: it does not.
    ///   - meanwhile: done with the path of its socket while no task can do anything.
    private static func hold(
        linked: Bool, _ method: String, until file: String, listeningIn folder: String? = nil,
        meanwhile: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> (candidates: String, over: String) {
        let socket = Mutex("")
        unlink(file)
        let (records, record) = AsyncStream.makeStream(of: LogRecord.self)
        let manifest = Manifest(
            plugins: linked ? [] : [PluginReference(library: "_BusyLoop")],
            managers: ["BusyLoop": ManagerDefinition(className: "BusyLoop")])
        let log = WarningLog { warning in
            // On the watchdog's thread: no task can do anything now.
            if warning.metadata["waited"] != nil {
                let path = socket.withLock { $0 }
                if !path.isEmpty { meanwhile(path) }
                _ = close(creat(file, 0o600))
            }
            record.yield(warning)
        }
        let host = PluginHost(
            manifest: manifest, plugins: linked ? [BusyLoopPlugin.self] : [],
            options: HostOptions(log: log, occupationLimit: .milliseconds(200)))
        let busyLoop: Remote<BusyLooping> = try await host.manager("BusyLoop")
        let control = try folder.map { try ControlSocket(serving: host, in: $0) }
        socket.withLock { $0 = control?.path ?? "" }
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

/// Hands over the host's own warnings.
private struct WarningLog: LogSink {
    let handOver: @Sendable (LogRecord) -> Void

    func isEnabled(_ level: Log.Level) -> Bool { level == .warning }
    func write(_ record: LogRecord) {
        if record.source == "host", record.level == .warning { handOver(record) }
    }
}
