import Backplane
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import FoundationEssentials

/// The records of a pool in its store.
enum TransferRecords {
    private static let namespace = TransferPool.namespace
    /// The indexes of the states: by openness and number, and by number.
    private static let openIndex = "open", orderIndex = "order"

    /// Defines the collections with their indexes.
    static func define(in store: any RecordStore) async throws(BackplaneError) {
        let states = CollectionDefinition(
            StateForm.collection,
            indexes: [
                IndexDefinition("isOpen", "number", name: openIndex), IndexDefinition("number", name: orderIndex),
            ])
        try await store.define(states, in: namespace)
        try await store.define(CollectionDefinition(RequestForm.collection), in: namespace)
    }

    /// Returns the highest number assigned to a transfer so far.
    static func lastNumber(in store: any RecordStore) async throws(BackplaneError) -> Int {
        let query = RecordQuery(
            collection: StateForm.collection, .range(RecordRange(of: orderIndex)), isDescending: true, limit: 1)
        let record = try await store.read(query, in: namespace).records.first
        return record.flatMap { decoded(StateForm.self, $0) }?.number ?? 0
    }

    /// Returns the open transfers in the order of their start, and reports those that cannot be read.
    static func open(
        in store: any RecordStore, _ report: (BackplaneError) -> Void
    ) async throws(BackplaneError) -> [(StateForm, Transfer)] {
        var query = RecordQuery(
            collection: StateForm.collection, .range(RecordRange(of: openIndex, equal: [.boolean(true)])), limit: 1_000)
        var found: [(StateForm, Transfer)] = []
        repeat {
            let page = try await store.read(query, in: namespace)
            let forms = try await requests(of: page.records.map(\.id), in: store)
            for record in page.records {
                guard let state = decoded(StateForm.self, record), let form = forms[ExactText(record.id)] else {
                    report(unreadable(record.id))
                    continue
                }
                found.append((state, form.transfer(record.id, owner: state.owner)))
            }
            for record in page.damaged { report(unreadable(record.id)) }
            query.after = page.next
        } while query.after != nil
        return found
    }

    /// Returns the requests of transfers; those that cannot be read are absent.
    private static func requests(
        of ids: [String], in store: any RecordStore
    ) async throws(BackplaneError) -> [ExactText: RequestForm] {
        var query = RecordQuery(collection: RequestForm.collection, ids: ids)
        var forms: [ExactText: RequestForm] = [:]
        repeat {  // the bodies of requests may fill several pages
            let page = try await store.read(query, in: namespace)
            for record in page.records { forms[ExactText(record.id)] = decoded(RequestForm.self, record) }
            query.after = page.next
        } while query.after != nil
        return forms
    }

    /// Returns a transfer, or `nil` if there is none.
    static func find(
        _ id: String, in store: any RecordStore
    ) async throws(BackplaneError) -> (StateForm, Transfer)? {
        guard let state = try await state(of: id, in: store) else { return nil }
        if let form = try await requests(of: [id], in: store)[ExactText(id)] {
            return (state, form.transfer(id, owner: state.owner))
        }
        // It may have been removed between the two reads.
        guard try await self.state(of: id, in: store) != nil else { return nil }
        throw unreadable(id)
    }

    /// Returns the stored state of a transfer, or `nil` if there is none.
    private static func state(
        of id: String, in store: any RecordStore
    ) async throws(BackplaneError) -> StateForm? {
        guard !id.isEmpty else { return nil }
        let page = try await store.read(RecordQuery(collection: StateForm.collection, ids: [id]), in: namespace)
        guard let record = page.records.first else {
            if !page.damaged.isEmpty { throw unreadable(id) }
            return nil
        }
        guard let state = decoded(StateForm.self, record) else { throw unreadable(id) }
        return state
    }

    /// Returns a page of states.
    static func page(
        in store: any RecordStore, isOpen: Bool?, limit: Int, after cursor: PageCursor?
    ) async throws(BackplaneError) -> (states: [TransferState], next: PageCursor?) {
        let range = isOpen.map { RecordRange(of: openIndex, equal: [.boolean($0)]) } ?? RecordRange(of: orderIndex)
        let query = RecordQuery(collection: StateForm.collection, .range(range), after: cursor, limit: max(1, limit))
        let page = try await store.read(query, in: namespace)
        let states = page.records.compactMap { record in
            decoded(StateForm.self, record)?.state(of: record.id)
        }
        return (states, page.next)
    }

    /// Reads the ids of all finished transfers.
    ///
    /// - Parameter page: A function that is called with the ids of each page.
    static func readFinished(
        in store: any RecordStore, _ page: ([String]) async throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        var query = RecordQuery(
            collection: StateForm.collection, .range(RecordRange(of: openIndex, equal: [.boolean(false)])),
            limit: 1_000,
            isWithoutValues: true)
        repeat {
            let found = try await store.read(query, in: namespace)
            try await page(found.records.map(\.id))
            query.after = found.next
        } while query.after != nil
    }

    // MARK: Changes

    static func removal(of id: String) -> [RecordChange] {
        [.delete(collection: StateForm.collection, id: id), .delete(collection: RequestForm.collection, id: id)]
    }

    static func saving(_ entry: TransferTable.Entry, withRequest: Bool) -> [RecordChange] {
        let missing = entry.missing.isEmpty ? RequestForm.missing(in: entry.transfer.request) : entry.missing
        let form = StateForm(
            entry.state, number: entry.number, synced: entry.synced, missing: missing, hasRun: entry.hasRun)
        let state = RecordChange.save(collection: StateForm.collection, record(entry.state.id, form))
        guard withRequest else { return [state] }
        return [
            state, .save(collection: RequestForm.collection, record(entry.state.id, RequestForm(entry.transfer))),
        ]
    }

    private static func record(_ id: String, _ form: some Encodable) -> StoredRecord {
        // Texts and numbers always encode.
        StoredRecord(id: id, value: (try? JSONEncoder().encode(form)).map { Array($0) } ?? [])
    }

    private static func decoded<Form: Decodable>(_ type: Form.Type, _ record: StoredRecord) -> Form? {
        try? JSONDecoder().decode(type, from: Data(record.value))
    }

    private static func unreadable(_ id: String) -> BackplaneError {
        BackplaneError(
            .storeUndecodable, "the record of this transfer cannot be read; it was left unchanged",
            at: "\(TransferPool.namespace)/\(id.shownID)")
    }
}

extension BackplaneError {
    static func unknownTransfer(_ id: String) -> BackplaneError {
        BackplaneError(.transferUnknown, "there is no transfer with this id", at: id.shownID)
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
