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
        struct Numbered: Decodable { var number: Int }  // the other parts of the record may be unreadable
        return try await store.read(last, in: namespace).records.first
            .flatMap { try? JSONDecoder().decode(Numbered.self, from: Data($0.value)) }?.number ?? 0
    }

    private func query(isOpen: Bool?, limit: Int, after cursor: PageCursor? = nil) -> RecordQuery {
        let range =
            isOpen.map { RecordRange(of: Self.openIndex, equal: [.boolean($0)]) } ?? RecordRange(of: Self.orderIndex)
        return RecordQuery(collection: Self.collection, .range(range), after: cursor, limit: max(1, limit))
    }

    /// Returns the open transfers in the order of their start, and reports unreadable ones.
    func open(_ report: (BackplaneError) -> Void) async throws(BackplaneError) -> [TransferTable.Entry] {
        var query = query(isOpen: true, limit: 1_000), found: [TransferTable.Entry] = []
        repeat {
            let page = try await store.read(query, in: namespace)
            for record in page.records {
                do throws(BackplaneError) { found.append(try entry(record)) } catch { report(error) }
            }
            query.after = page.next
        } while query.after != nil
        return found
    }

    func find(_ id: String) async throws(BackplaneError) -> TransferTable.Entry? {
        guard !id.isEmpty else { return nil }
        let page = try await store.read(RecordQuery(collection: Self.collection, ids: [id]), in: namespace)
        guard let record = page.records.first else { return nil }
        return try entry(record)
    }

    func page(
        isOpen: Bool?, limit: Int, after cursor: PageCursor?
    ) async throws(BackplaneError) -> (states: [TransferState], next: PageCursor?) {
        let page = try await store.read(query(isOpen: isOpen, limit: limit, after: cursor), in: namespace)
        return (page.records.compactMap { try? entry($0).state }, page.next)
    }

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
        transfer = try values.decode(Transfer.self, forKey: .transfer)
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
        try values.encode(transfer.stored(withBytes: state.phase != .succeeded), forKey: .transfer)
        try values.encode(missing.isEmpty ? transfer.missing : missing, forKey: .missing)
        try values.encode(hasRun, forKey: .hasRun)
    }
}

extension Transfer {
    /// Returns the transfer as stored: without credentials and, once it has succeeded, without bytes in memory.
    fileprivate func stored(withBytes: Bool) -> Transfer {
        var stored = self
        stored.request.headers = request.headers.filter { !Self.secretFields.contains($0) }
        if !withBytes {
            stored.request.body = HTTPBody(segments: request.body.files.map { .file($0) }, type: request.body.mediaType)
        }
        return stored
    }

    fileprivate var missing: [String] {
        request.headers.fields.map(\.name).filter { Self.secretFields.contains($0.lowercased()) }
    }

    private static let secretFields: Set<String> = ["authorization", "cookie", "proxy-authorization"]
}

extension String {
    /// The beginning of the id for messages, without control characters.
    var shownID: String {
        let start = String(
            unicodeScalars.prefix(100).map { $0.properties.generalCategory == .control ? "�" : Character($0) })
        return unicodeScalars.count > 100 ? start + "…" : start
    }
}
