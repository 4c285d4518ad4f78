import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneSQLite
import BackplaneTools
import BackplaneTransfers
import Foundation

/// A large download in a host that is killed at random points, each time after a pause or in the middle of a response.
struct KilledDownload {
    /// The number of bytes of the file.
    let length: Int
    /// A folder that does not exist yet and is removed afterwards.
    let folder: String

    /// The number of points for the length: at most 20, and one for each 10 MB.
    private var points: Int { max(1, min(20, length / 10_000_000)) }

    /// Downloads the file, and returns the maximum number of bytes that the server had to resend after a kill.
    ///
    /// - Throws: An error unless the file is byte for byte identical to the server's.
    func mostFetchedAgain() async throws -> Int {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try CountingServer(length: length)
        defer { server.stop() }
        // Not among the last bytes, of which only the end of the transfer might be reported.
        let places = (0..<points).map { _ in Int.random(in: 1..<length / 10 * 9) }.sorted()
        for (number, place) in places.enumerated() {
            server.slow(from: place)
            let plan = TransferChild.DownloadPlan(
                url: server.url, begins: number == 0, place: place, pauses: number % 2 == 1)
            guard try await line(of: plan) == TransferChild.reached else { throw failure(places, "no place reached") }
        }
        server.slow(from: .max)
        guard try await line(of: TransferChild.DownloadPlan(url: server.url)) == TransferChild.succeeded else {
            throw failure(places, "it did not succeed")
        }
        guard try NumberedBytes.areIn(TransferChild.file(in: folder), length: length) else {
            throw failure(places, "the file is not the server's")
        }
        let sent = server.sent
        return zip(sent, sent.dropFirst()).map { $0.end - $1.start }.max() ?? 0
    }

    /// Runs a host and kills it once it has printed a line.
    private func line(of plan: TransferChild.DownloadPlan) async throws -> String {
        try JSONEncoder().encode(plan).write(to: URL(filePath: TransferChild.plan(in: folder)))
        return try await ProgramRun.with([MeasuringChild.command, TransferChild.measure, folder, folder]) { run in
            String(decoding: run.line(), as: UTF8.self)
        }
    }

    private func failure(_ places: [Int], _ what: String) -> BackplaneError {
        BackplaneError(
            .componentFailed, "a download of \(length) bytes with kills at \(places): \(what)", at: TransferChild.id)
    }
}

/// The child process with a host that starts or continues the download.
enum TransferChild {
    /// The download that a process is to carry out.
    struct DownloadPlan: Codable {
        var url: String
        var begins = false
        /// The number of bytes after which the process reports and waits to be killed; `nil` means all.
        var place: Int?
        /// A Boolean value that indicates whether the transfer is paused before the report.
        var pauses = false
    }
    static let measure = "transfer", id = "large"
    static let reached = "reached", succeeded = "succeeded"

    static func plan(in folder: String) -> String { folder + "/plan.json" }
    static func file(in folder: String) -> String { folder + "/large" }

    static func run(in folder: String) async -> Int32 {
        do {
            let plan = try JSONDecoder().decode(
                DownloadPlan.self, from: Data(contentsOf: URL(filePath: plan(in: folder))))
            let host = PluginHost(
                manifest: Manifest(plugins: [], managers: [:]),
                options: HostOptions(
                    loadFolder: folder + "/load", dataFolder: folder + "/data",
                    executors: [AsyncHTTPClientExecutor(proxies: .none)],
                    openStore: { folder, settings, report in
                        try SQLiteRecordStore(folder: folder, durability: settings.durability, report: report)
                    }, occupationLimit: nil))
            try await host.start()
            let pool = try await host.transferPool()
            if plan.begins {
                try await pool.begin(Transfer(id, download: plan.url, to: file(in: folder)))
            } else {
                try await pool.resume(id)  // of a transfer that was not paused, this changes nothing
            }
            for try await state in pool.states(of: id) {
                guard let place = plan.place, state.bytes >= place else {
                    if state.phase.isFinal { Output.line(state.error?.description ?? state.phase.rawValue) }
                    continue
                }
                if plan.pauses { try await pool.pause(id) }
                Output.line(reached)
                try await Task.sleep(for: .seconds(600))
            }
            await host.stop()
            return 0
        } catch {
            return Output.fail(error)
        }
    }
}
