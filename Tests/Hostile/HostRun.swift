import Backplane
import BackplaneHost
import Foundation

/// What a host does with a library: loads it, starts its manager, calls it, and stops.
enum HostRun {
    /// The hidden command that a child of this program runs.
    static let command = "host"

    /// The methods that are to be found without an answer at their deadline.
    private static let overdue = [
        "method-late", "method-never", "method-loops", "method-uncancelled", "method-works-on", "stream-waits",
        "stream-never",
    ]

    /// Runs a host with the library in this process, and prints what it says, a line each.
    static func run(_ library: String, sha256: String?) async {
        let folder = library + ".host", hangs = HostileLibrary.hangs(at: library)
        mkdir(folder, 0o700)
        let digest = sha256.map { #", "sha256": "\#($0)""# } ?? ""
        let manifest =
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(library)"\#(digest)}], "managers": {"Worker": {"className": "Worker"}}}"#
        write(Array(manifest.utf8), to: folder + "/backplane.json")
        var options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", startLimit: .seconds(hangs ? 3 : 60),
            stopLimit: .seconds(hangs ? 1 : 60), occupationLimit: nil)
        options.loadLimit = .seconds(hangs ? 3 : 60)
        options.namesCrashes = true
        let host = PluginHost(manifest: ManifestDocument(contentsOf: folder + "/backplane.json"), options: options)
        // First without a deadline, so that what it takes to start is not held against the call.
        if await says(host, "rest", within: nil) {
            let isOverdue = overdue.contains { library.hasSuffix("/lib\($0).so") }
            _ = await says(host, "work", within: .seconds(isOverdue ? 1 : 15))
            _ = await says(host, "rest", within: .seconds(20))
        }
        await host.stop()
        print("stopped")
        fflush(nil)
        // A library may keep a lock of the loader's for ever, which an orderly exit takes.
        _exit(0)
    }

    /// - Returns: whether it answered.
    private static func says(_ host: PluginHost, _ method: String, within limit: Duration?) async -> Bool {
        let call = limit.map { host.begin(within: $0) } ?? host.begin()
        do {
            let answer = try await host.call("Worker", method, Array("null".utf8), call)
            print("\(method): \(String(decoding: answer, as: UTF8.self))")
            fflush(nil)
            return true
        } catch  where error.code == .callWrongKind {
            return await streams(host, method, call, for: limit ?? .seconds(1))
        } catch {
            print("\(method): \(error.lines.joined(separator: "\n    "))")
            fflush(nil)
            return false
        }
    }
}

extension HostRun {
    /// Reads a stream for a time at most.
    ///
    /// - Returns: whether it ended without an error.
    private static func streams(
        _ host: PluginHost, _ method: String, _ call: Call, for time: Duration
    ) async -> Bool {
        let reading = Task { () async -> BackplaneError? in
            do throws(BackplaneError) {
                for try await element in try await host.stream("Worker", method, Array("null".utf8), call) {
                    print("\(method), an element: \(String(decoding: element, as: UTF8.self))")
                    fflush(nil)
                }
                return nil
            } catch {
                return error
            }
        }
        let limit = Task {
            try await Task.sleep(for: time)
            reading.cancel()
        }
        defer {
            limit.cancel()
            fflush(nil)
        }
        let error = await reading.value
        print("\(method): \(error?.lines.joined(separator: "\n    ") ?? "its end")")
        return error == nil
    }
}

extension BackplaneError {
    /// It, and under it what it came from; nothing of what it quotes begins a line of its own.
    fileprivate var lines: [String] {
        ["\(code): \(message.debugDescription.dropFirst().dropLast())"] + causes.flatMap { $0.lines.map { "  " + $0 } }
    }
}
