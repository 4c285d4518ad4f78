public import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Glibc
import Synchronization

/// A file with exchanges, which is either recorded or replayed instead of the servers.
///
/// ```swift
/// let network = HTTPPipeline([executor], cassette: try .recording(to: "books.cassette.json"))
/// let network = HTTPPipeline([executor], cassette: try .replaying("books.cassette.json"))
/// ```
///
/// The file is JSON, and may be edited by hand. It contains the rule by which requests are matched (``Part``). Secrets
/// are left out: values of fields that may be credentials, credentials and query parameters such as `token` in URLs,
/// and the bodies of sign-ins and of managers that authenticate requests. All other bodies are recorded unchanged.
/// Requests for `file:` URLs are neither recorded nor replayed.
public struct Cassette: Sendable {
    /// A part of a request that must equal the same part of a recorded request.
    public enum Part: String, Sendable, CaseIterable {
        /// The method, such as `GET`.
        case method
        /// The URL with its query.
        case url
        /// The URL without its query.
        case path
        /// The bytes of the body.
        case body
    }
    private enum Mode {
        case recording(CassetteRecorder)
        case replaying(CassettePlayer)
    }
    private let mode: Mode

    /// Returns a cassette that is recorded to a new file, which replaces an existing one and is readable only by its
    /// owner.
    ///
    /// The file is rewritten after each exchange, once the body has been read to the end. For a stream of events, and
    /// for a status other than 200 to 299, it is rewritten once the response is released. Other exchanges that end
    /// early or fail are not recorded. An exchange fails if the file would exceed 16 MB.
    ///
    /// - Parameter rule: The rule of matching, which is written to the file.
    /// - Throws: `network.mock` if the file cannot be written.
    public static func recording(
        to path: String, matching rule: [Part] = [.method, .url, .body]
    ) throws(BackplaneError) -> Cassette {
        Cassette(mode: .recording(try CassetteRecorder(path, rule)))
    }

    /// Returns a cassette whose recorded exchanges answer requests.
    ///
    /// Equal requests are answered in the order of the file, and then again with the last one. Other requests fail with
    /// `network.mock`.
    ///
    /// - Throws: `network.mock`, located by line and column, if the file is not a cassette of this version.
    public static func replaying(_ path: String) throws(BackplaneError) -> Cassette {
        let bytes = try SubstituteFile.read(path, as: "cassette", upTo: CassetteFile.mostBytes)
        return Cassette(mode: .replaying(CassettePlayer(try CassetteFile(Data(bytes), path), path)))
    }

    /// The executor that replays exchanges; `nil` for a cassette that is recorded.
    package var player: (any HTTPExecutor)? { if case .replaying(let player) = mode { player } else { nil } }

    /// Returns an executor that records the exchanges of another one, or the other one itself if the cassette is
    /// replayed.
    func recording(_ executor: any HTTPExecutor) -> any HTTPExecutor {
        guard case .recording(let recorder) = mode else { return executor }
        return RecordingExecutor(real: executor, recorder: recorder)
    }
}

/// The exchanges of a cassette that is recorded, in the order in which their requests were sent.
private final class CassetteRecorder: Sendable {
    private let path: String
    private let rule: [Cassette.Part]
    /// The encoded exchanges; `nil` for an exchange that has not ended.
    private let exchanges = Mutex<[[UInt8]?]>([])

    init(_ path: String, _ rule: [Cassette.Part]) throws(BackplaneError) {
        (self.path, self.rule) = (path, rule)
        // A device or a link would be replaced by the file.
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .networkMock, "the cassette cannot be recorded: expected a regular file, or no file", at: path)
        }
        IncomingFile.removeAbandoned(beside: path)
        try write([])
    }

    func begin() -> Int {
        exchanges.withLock { exchanges in
            exchanges.append(nil)
            return exchanges.count - 1
        }
    }

    func end(_ number: Int, with exchange: CassetteExchange) throws(BackplaneError) {
        let bytes = exchange.encoded
        // Under the lock, so that no older state replaces a newer one.
        try exchanges.withLock { exchanges throws(BackplaneError) in
            exchanges[number] = bytes
            do throws(BackplaneError) {
                try write(exchanges.compactMap(\.self))
            } catch {
                exchanges[number] = nil
                throw error
            }
        }
    }

    private func write(_ exchanges: [[UInt8]]) throws(BackplaneError) {
        let text = CassetteFile.text(rule, exchanges)
        guard text.count <= CassetteFile.mostBytes else {
            throw BackplaneError(
                .networkMock,
                "the cassette would have more than \(CassetteFile.mostBytes >> 20) MB with this exchange; "
                    + "record fewer or smaller ones", at: path)
        }
        do throws(BackplaneError) {
            let file = try IncomingFile(path)
            try file.write(text)
            _ = try file.finish(survivesPowerFailure: false)  // exchanges would wait for the disk
        } catch {
            throw BackplaneError(.networkMock, "the cassette cannot be written", at: path, causes: [error])
        }
    }
}

/// An executor that records the exchanges of another one.
private struct RecordingExecutor: HTTPExecutor {
    let real: any HTTPExecutor
    let recorder: CassetteRecorder
    var schemes: [String] { real.schemes }
    var capabilities: HTTPCapabilities { real.capabilities }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try real.require(request, options)
        var request = request
        request.body = try await request.body.collected(upTo: CassetteFile.mostBytes)
        let number = recorder.begin(), recorded = CassetteExchange.Request(request, options)
        let url = request.printableURL
        var response = try await real.open(request, options)
        let head = response.head
        @Sendable func end(_ body: [UInt8]) throws(BackplaneError) {
            var whole = head
            whole.body = body
            try recorder.end(number, with: CassetteExchange(recorded, whole, options))
        }
        guard response.hasBody(for: request) else {
            try end([])
            return response
        }
        let type = head.headers["Content-Type"] ?? ""
        let mayEndEarly = type.hasPrefix("text/event-stream") || !(200..<300).contains(head.status)
        let taken = Mutex<[UInt8]>([])
        response.body = response.body.tapped { piece, count in
            guard count <= CassetteFile.mostBytes else {
                throw BackplaneError(
                    .networkMock,
                    "the response has more than \(CassetteFile.mostBytes >> 20) MB, which is the limit of a cassette",
                    at: url)
            }
            taken.withLock { $0 += piece }
        } ended: { error in
            guard error == nil || mayEndEarly && error is CancellationError else { return }
            try end(taken.withLock(\.self))
        }
        return response
    }
}

/// The executor that answers requests with the exchanges of a cassette.
private final class CassettePlayer: HTTPExecutor {
    private let path: String
    private let file: CassetteFile
    /// The numbers of the exchanges with equal requests, in order.
    private let numbers: [CassetteExchange.Key: [Int]]
    private let counts = Mutex<[CassetteExchange.Key: Int]>([:])
    let schemes: [String] = []
    let capabilities = HTTPCapabilities(rawValue: .max)

    init(_ file: CassetteFile, _ path: String) {
        (self.file, self.path) = (file, path)
        numbers = Dictionary(grouping: file.exchanges.indices) { file.exchanges[$0].request.key(file.rule) }
    }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        var request = request
        request.body = try await request.body.collected(upTo: CassetteFile.mostBytes)
        try Task.checkCancellation()
        let asked = CassetteExchange.Request(request, options), key = asked.key(file.rule)
        guard let numbers = numbers[key] else { throw missing(asked, request) }
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 0]
        }
        let answer = file.exchanges[numbers[min(count, numbers.count) - 1]]
        return .substituted(answer.status, answer.headers.withoutRedacted, answer.body, by: .cassette, for: request)
    }

    private func missing(_ asked: CassetteExchange.Request, _ request: HTTPRequest) -> BackplaneError {
        let rule = file.rule.map(\.rawValue).joined(separator: ", ")
        var words = "the cassette has no exchange for `\(asked.method) \(request.printableURL)`, matched by \(rule)"
        let nearest = file.exchanges.indices.max { a, b in
            file.exchanges[a].request.likeness(to: asked, file.rule)
                .lexicographicallyPrecedes(file.exchanges[b].request.likeness(to: asked, file.rule))
        }
        if let nearest {
            let other = file.exchanges[nearest].request
            let printable = HTTPRequest(other.method, other.url).printableURL
            words += "; the nearest is exchange \(nearest + 1), `\(other.method) \(printable)`, with another "
            words += other.differences(from: asked, file.rule).joined(separator: " and another ")
        } else {
            words += "; it has no exchanges"
        }
        return BackplaneError(.networkMock, words, at: path)
    }
}
