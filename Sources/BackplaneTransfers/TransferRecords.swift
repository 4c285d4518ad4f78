import Backplane
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import FoundationEssentials

/// The records of a pool in its store: one for each transfer, with its request and its last state.
struct TransferRecords: Sendable {
    private static let collection = "transfers"
    /// The indexes: by openness and number, and by number.
    private static let openIndex = "open", orderIndex = "order"
    private let namespace = TransferPool.namespace
    let store: any RecordStore

    /// Defines the collection with its indexes, and returns the highest number assigned to a transfer so far.
    func define() async throws(BackplaneError) -> Int {
        let indexes = [
            IndexDefinition("isOpen", "number", name: Self.openIndex), IndexDefinition("number", name: Self.orderIndex),
        ]
        try await store.define(CollectionDefinition(Self.collection, indexes: indexes), in: namespace)
        var last = query(isOpen: nil, limit: 1)
        last.isDescending = true
        return try await store.read(last, in: namespace).records.first.flatMap { try? entry($0) }?.number ?? 0
    }

    /// Returns a query of the transfers in the order in which they were started.
    private func query(isOpen: Bool?, limit: Int, after cursor: PageCursor? = nil) -> RecordQuery {
        let range =
            isOpen.map { RecordRange(of: Self.openIndex, equal: [.boolean($0)]) } ?? RecordRange(of: Self.orderIndex)
        return RecordQuery(collection: Self.collection, .range(range), after: cursor, limit: max(1, limit))
    }

    /// Returns the open transfers in the order of their start, and reports those that cannot be read.
    func open(_ report: (BackplaneError) -> Void) async throws(BackplaneError) -> [TransferTable.Entry] {
        var query = query(isOpen: true, limit: 1_000), found: [TransferTable.Entry] = []
        repeat {
            let page = try await store.read(query, in: namespace)
            for record in page.records {
                do throws(BackplaneError) { found.append(try entry(record)) } catch { report(error) }
            }
            for record in page.damaged { report(unreadable(record.id)) }
            query.after = page.next
        } while query.after != nil
        return found
    }

    /// Returns a transfer, or `nil` if there is none.
    func find(_ id: String) async throws(BackplaneError) -> TransferTable.Entry? {
        guard !id.isEmpty else { return nil }
        let page = try await store.read(RecordQuery(collection: Self.collection, ids: [id]), in: namespace)
        if page.records.isEmpty, !page.damaged.isEmpty { throw unreadable(id) }
        guard let record = page.records.first else { return nil }
        return try entry(record)
    }

    /// Returns a page of states.
    func page(
        isOpen: Bool?, limit: Int, after cursor: PageCursor?
    ) async throws(BackplaneError) -> (states: [TransferState], next: PageCursor?) {
        let page = try await store.read(query(isOpen: isOpen, limit: limit, after: cursor), in: namespace)
        return (page.records.compactMap { try? entry($0).state }, page.next)
    }

    /// Returns the ids of finished transfers page by page.
    func finished(after cursor: PageCursor?) async throws(BackplaneError) -> (ids: [String], next: PageCursor?) {
        var query = query(isOpen: false, limit: 1_000, after: cursor)
        query.isWithoutValues = true
        let page = try await store.read(query, in: namespace)
        return (page.records.map(\.id), page.next)
    }

    /// Stores transfers, and removes those without an entry.
    func write(_ changes: some Sequence<(ExactText, TransferTable.Entry?)>) async throws(BackplaneError) {
        let changes = changes.map { key, entry in
            guard let entry else { return RecordChange.delete(collection: Self.collection, id: key.text) }
            // Texts and numbers always encode.
            let value = (try? JSONEncoder().encode(entry)).map { Array($0) } ?? []
            return .save(collection: Self.collection, StoredRecord(id: key.text, value: value))
        }
        try await store.write(changes, in: namespace)
    }

    private func entry(_ record: StoredRecord) throws(BackplaneError) -> TransferTable.Entry {
        guard let entry = try? JSONDecoder().decode(TransferTable.Entry.self, from: Data(record.value)) else {
            throw unreadable(record.id)
        }
        return entry
    }

    private func unreadable(_ id: String) -> BackplaneError {
        BackplaneError(
            .storeUndecodable, "the record of this transfer cannot be read; it was left unchanged",
            at: "\(namespace)/\(id.shownID)")
    }
}

extension TransferTable.Entry: Codable {
    private enum CodingKeys: String, CodingKey { case number, isOpen, state, transfer, missing, hasRun }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        number = try values.decode(Int.self, forKey: .number)
        state = try values.decode(TransferState.self, forKey: .state)
        // A transfer that was running when the process ended waits for a place again.
        if state.phase == .running { state.phase = .waiting }
        transfer = try values.decode(StoredTransfer.self, forKey: .transfer).transfer(state.id, owner: state.owner)
        synced = state.bytes
        missing = try values.decode([String].self, forKey: .missing)
        hasRun = try values.decode(Bool.self, forKey: .hasRun)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self), stored = state
        // Bytes that are not on the disk may be lost.
        (stored.bytes, stored.rate, stored.timeLeft) = (synced, nil, nil)
        try values.encode(number, forKey: .number)
        try values.encode(!state.phase.isFinal, forKey: .isOpen)
        try values.encode(stored, forKey: .state)
        try values.encode(StoredTransfer(transfer, withBytes: state.phase != .succeeded), forKey: .transfer)
        try values.encode(missing.isEmpty ? StoredTransfer.missing(in: transfer.request) : missing, forKey: .missing)
        try values.encode(hasRun, forKey: .hasRun)
    }
}

/// The stored form of a transfer, without its credentials.
private struct StoredTransfer: Codable {
    /// A piece of a body: bytes or a file.
    struct Piece: Codable {
        var bytes: Data?
        var file: String?
    }
    var method: String
    var url: String
    /// The header fields without credentials, as alternating names and values.
    var fields: [String]
    var body: [Piece]
    var type: String?
    var target: String?
    var existing: ExistingFile
    var sha256: Data?
    var sizeLimit: Int64?
    var priority: Int
    var credential: String?
    var account: String?
    var sender: String?
    var managers: [String]

    /// Returns whether the value of a header field is a credential, which is not stored.
    private static func isSecret(_ name: String) -> Bool {
        ["authorization", "cookie", "proxy-authorization"].contains(name.lowercased())
    }

    /// Returns the names of a request's header fields that are not stored.
    static func missing(in request: HTTPRequest) -> [String] {
        request.headers.fields.map(\.name).filter(isSecret)
    }

    /// Creates the form of a transfer; bytes in memory are not needed once it has succeeded.
    init(_ transfer: Transfer, withBytes: Bool) {
        let request = transfer.request
        (method, url, type) = (request.method, request.url, request.body.mediaType)
        fields = request.headers.fields.filter { !Self.isSecret($0.name) }.flatMap { [$0.name, $0.value] }
        body = (request.body.segments ?? []).compactMap { segment in
            switch segment {
            case .bytes(let bytes): withBytes ? Piece(bytes: Data(bytes)) : nil
            case .file(let path): Piece(file: path)
            }
        }
        (target, existing, sizeLimit) = (transfer.target, transfer.existing, transfer.sizeLimit)
        (sha256, priority) = (transfer.sha256.map { Data($0) }, transfer.priority)
        (credential, account) = (transfer.credential, transfer.account)
        (sender, managers) = (transfer.sender, transfer.managers)
    }

    /// Returns the transfer with an id.
    func transfer(_ id: String, owner: String) -> Transfer {
        var transfer = Transfer(id, upload: HTTPRequest(method, url))
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            transfer.request.headers.add(fields[index], fields[index + 1])
        }
        if !body.isEmpty {
            let segments = body.map { piece in
                piece.file.map { BodySegment.file($0) } ?? .bytes(Array(piece.bytes ?? Data()))
            }
            transfer.request.body = HTTPBody(segments: segments, type: type)
        }
        (transfer.target, transfer.existing, transfer.sizeLimit) = (target, existing, sizeLimit)
        (transfer.sha256, transfer.priority) = (sha256.map { Array($0) }, priority)
        (transfer.credential, transfer.account) = (credential, account)
        (transfer.sender, transfer.managers, transfer.owner) = (sender, managers, owner)
        return transfer
    }
}

extension String {
    /// The beginning of the id for messages, without control characters.
    var shownID: String {
        let start = String(
            unicodeScalars.prefix(100).map { $0.properties.generalCategory == .control ? "�" : Character($0) })
        return unicodeScalars.count > 100 ? start + "…" : start
    }
}
