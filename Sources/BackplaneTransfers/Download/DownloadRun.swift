import Backplane
import BackplaneExchange
import BackplaneNetwork

/// One run of a download, which performs the actions of its state machine on the network and the part file.
struct DownloadRun: Sendable {
    /// The end of a download.
    struct Outcome: Sendable {
        var file: String
        var wasKept = false
        var bytes: Int64
    }
    let request: HTTPRequest
    let target: String
    let settings: Transfer.Download
    let transfer: Transfer
    let network: HTTPPipeline
    let means: TransferMeans
    let report: @Sendable (TransferNews) -> Void
    /// Waits until the reported progress is in the store.
    let saved: @Sendable () async -> Void

    /// Downloads the file.
    ///
    /// If the task is cancelled, everything received so far is in the part file and on the disk.
    ///
    /// - Throws: `CancellationError`; `network.file` and other codes of the network; `transfer.taken`;
    ///   `transfer.digest`.
    func run() async throws -> Outcome {
        if settings.existing == .keep, let size = TargetPath.size(of: target) {
            return Outcome(file: target, wasKept: true, bytes: size)
        }
        let part = try PartFile(target: target)
        // A thread that waits for a disk may hold the part longer than this run, which must not keep the lock that
        // long.
        defer { part.release() }
        let found = try await means.onDisk { () throws(BackplaneError) in
            let found = try part.restore()
            if part.count > 0 { try part.sync() }
            return found
        }
        var machine = DownloadMachine(
            request, means.options.retry, sizeLimit: settings.sizeLimit, origin: found.origin, count: part.count,
            hadBytes: found.hadBytes)
        report(.bytes(machine.count, of: machine.origin?.length))
        report(.synced(machine.count))
        do {
            while true {
                try await fetch(part, &machine)
                guard let sha256 = settings.sha256 else { break }
                let actual = try await means.onDisk { () throws(BackplaneError) in try part.sha256() }
                if actual == sha256 { break }
                if case .fail(let error) = machine.hadWrongDigest() {
                    part.remove()
                    throw error
                }
            }
        } catch {
            // The part is kept, so that the next run continues it; a removed part remains removed.
            if part.count == 0 { part.remove() }
            let isKept: Void? = try? await means.onDisk { () throws(BackplaneError) in
                try part.mark()
                try part.sync()
            }
            if isKept != nil { report(.synced(part.count)) }
            throw error
        }
        let policy = settings.existing, bytes = part.count
        let file = try await means.onDisk { () throws(BackplaneError) in try part.finish(policy) }
        return Outcome(file: file ?? target, wasKept: file == nil, bytes: bytes)
    }

    /// Performs the actions of the state machine until the file is complete.
    private func fetch(_ part: PartFile, _ machine: inout DownloadMachine) async throws {
        var action = machine.next()
        while true {
            if let reason = machine.takeRestart() { report(.restarted(reason)) }
            switch action {
            case .finish: return
            case .fail(let error): throw error
            case .again(let delay):
                if delay > .zero { try await means.retries.clock.pause(for: delay) }
                action = machine.next()
            case .ask(let asked): action = try await exchange(asked, part, &machine)
            case .begin, .append: preconditionFailure("the answer to a head, which `exchange` acts on")
            }
        }
    }

    /// Makes one exchange, and returns the next action.
    private func exchange(
        _ asked: DownloadMachine.PartAsked?, _ part: PartFile, _ machine: inout DownloadMachine
    ) async throws -> DownloadMachine.Action {
        try Task.checkCancellation()
        let response: HTTPStreamedResponse
        do {
            response = try await network.open(request.asking(for: asked), means.options.exchange(transfer))
        } catch {
            return machine.ended(try Self.failure(error), random: means.retries.random())
        }
        let action = machine.answered(
            response.status, response.headers, now: means.retries.date(), random: means.retries.random())
        if let reason = machine.takeRestart() { report(.restarted(reason)) }
        switch action {
        case .begin(let origin):
            // A state never claims bytes that are not there.
            if part.count > 0 { await saved() }
            try part.begin(origin)
        case .append: break
        default:
            response.body.cancel()
            return action
        }
        report(.bytes(machine.count, of: machine.origin?.length))
        do {
            try await receive(response, part, &machine)
        } catch {
            response.body.cancel()
            return machine.ended(try Self.failure(error), random: means.retries.random())
        }
        return machine.ended(nil, random: means.retries.random())
    }

    /// Appends a body to the part, and flushes it to the disk in the background.
    private func receive(
        _ response: HTTPStreamedResponse, _ part: PartFile, _ machine: inout DownloadMachine
    ) async throws {
        let disk = DiskFollower(part, means, report)
        do {
            for try await chunk in response.body {
                try machine.arrived(chunk.count)
                try part.append(chunk)
                report(.bytes(machine.count, of: machine.origin?.length))
                try await disk.follow()
            }
            try Task.checkCancellation()
        } catch {
            await disk.settle()
            throw error
        }
        if let failure = await disk.settle() { throw failure }
    }

    /// Returns the error of an exchange, for the state machine; throws an error if it is a cancellation.
    private static func failure(_ error: any Error) throws -> BackplaneError {
        try Task.checkCancellation()
        if error is CancellationError { throw error }
        return BackplaneError(thrown: error)
    }
}
