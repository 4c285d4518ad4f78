import Backplane
import BackplaneNetwork
import FoundationEssentials

/// The stored form of a transfer's state.
struct StateForm: Codable, Sendable {
    /// The collection of the states, with indexes of the open transfers and of the order in which transfers were
    /// started.
    static let collection = "transfers"
    var number: Int
    /// A Boolean value that indicates whether the transfer is waiting, running or paused.
    var isOpen: Bool
    var owner: String
    var isUpload: Bool
    var phase: TransferState.Phase
    /// An upper bound for the number of bytes on the disk.
    var bytes: Int64
    var total: Int64?
    var restart: RestartReason?
    var file: String?
    var wasKept: Bool?
    var status: Int?
    var response: Data?
    var error: BackplaneError?
    /// The names of header fields that are not stored, because they contain credentials.
    var missing: [String]?
    /// A Boolean value that indicates whether an upload has already run, so that the next run is a restart.
    var hasRun: Bool?

    init(_ state: TransferState, number: Int, synced: Int64, missing: [String], hasRun: Bool) {
        (self.number, owner, isUpload, phase) = (number, state.owner, state.isUpload, state.phase)
        isOpen = !state.phase.isFinal
        bytes = state.phase == .succeeded ? state.bytes : synced
        (total, restart, file, status) = (state.total, state.restart, state.file, state.status)
        (response, error) = (state.response.map { Data($0) }, state.error)
        wasKept = state.wasKept ? true : nil
        self.missing = missing.isEmpty ? nil : missing
        self.hasRun = state.isUpload && hasRun ? true : nil
    }

    /// Returns the state of the transfer with an id.
    func state(of id: String) -> TransferState {
        var state = TransferState(id: id, owner: owner, isUpload: isUpload)
        // A transfer that was running when the process ended waits for a place again.
        (state.phase, state.bytes, state.total) = (phase == .running ? .waiting : phase, bytes, total)
        (state.restart, state.file, state.wasKept) = (restart, file, wasKept ?? false)
        (state.status, state.response, state.error) = (status, response.map { Array($0) }, error)
        return state
    }
}

/// The stored form of a transfer's request.
struct RequestForm: Codable, Equatable, Sendable {
    /// The collection of the requests, whose bodies may be large; they are written when they change.
    static let collection = "requests"
    /// A piece of a body: bytes or a file.
    struct Piece: Codable, Equatable, Sendable {
        var bytes: Data?
        var file: String?
    }
    var method: String
    var url: String
    /// The header fields without credentials, as alternating names and values.
    var fields: [String]
    var body: [Piece]?
    var type: String?
    var target: String?
    var existing: ExistingFile?
    var sha256: Data?
    var sizeLimit: Int64?
    var priority: Int
    var credential: String?
    var account: String?
    var sender: String?
    var managers: [String]?

    /// The lowercase names of header fields that are not stored.
    private static let secret: Set<String> = ["authorization", "cookie", "proxy-authorization"]

    init(_ transfer: Transfer, withBody: Bool = true) {
        let request = transfer.request
        (method, url, priority) = (request.method, request.url, transfer.priority)
        fields = request.headers.fields.filter { !Self.secret.contains($0.name.lowercased()) }
            .flatMap { [$0.name, $0.value] }
        body = request.body.isEmpty || !withBody ? nil : request.body.segments?.map { Piece($0) }
        type = request.body.mediaType
        (credential, account, sender) = (transfer.credential, transfer.account, transfer.sender)
        managers = transfer.managers.isEmpty ? nil : transfer.managers
        guard case .download(_, let path, let settings) = transfer.work else { return }
        (target, existing, sizeLimit) = (path, settings.existing, settings.sizeLimit)
        sha256 = settings.sha256.map { Data($0) }
    }

    /// Returns the names of a request's header fields that are not stored.
    static func missing(in request: HTTPRequest) -> [String] {
        request.headers.fields.map(\.name).filter { secret.contains($0.lowercased()) }
    }

    /// Returns the transfer with an id.
    func transfer(_ id: String, owner: String) -> Transfer {
        var transfer = described(id, owner: owner)
        (transfer.credential, transfer.account, transfer.sender) = (credential, account, sender)
        transfer.managers = managers ?? []
        return transfer
    }

    private func described(_ id: String, owner: String) -> Transfer {
        var request = HTTPRequest(method, url)
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            request.headers.add(fields[index], fields[index + 1])
        }
        if let body {
            let segments = body.map { piece in
                piece.file.map { BodySegment.file($0) } ?? .bytes(piece.bytes.map { Array($0) } ?? [])
            }
            request.body = HTTPBody(segments: segments, type: type)
        }
        guard let target else { return Transfer(id, .upload(request), owner: owner, priority: priority) }
        let settings = Transfer.Download(
            existing: existing ?? .replace, sha256: sha256.map { Array($0) }, sizeLimit: sizeLimit)
        return Transfer(id, .download(request, to: target, settings), owner: owner, priority: priority)
    }
}

extension RequestForm.Piece {
    fileprivate init(_ segment: BodySegment) {
        switch segment {
        case .bytes(let bytes): self.init(bytes: Data(bytes))
        case .file(let path): self.init(file: path)
        }
    }
}
