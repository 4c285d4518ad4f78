import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage

extension StoreRequest {
    /// The handler of every host.
    static let handler = ControlRequest(StoreRequest.self) { host, request throws(BackplaneError) in
        try await request.answer(from: host.records, in: try host.recordFolder)
    }

    private func answer(from store: any RecordStore, in folder: String) async throws(BackplaneError) -> Answer {
        var answer = Answer()
        switch operation {
        case "list":
            answer.folder = folder
            answer.collections = try await store.list(sizes: sizes ?? false)
        case "read":
            let page = try await store.read(
                try given(collection, "collection"), id: id, after: after.map { PageCursor(bytes: $0) },
                limit: limit ?? 100, in: try given(namespace, "namespace"))
            answer.records = page.records.map { StoreRecordForm($0, version: $0.version) }
            answer.damaged = page.damaged.map(\.id)
            answer.next = page.next?.bytes
        case "define":
            try await store.add(
                (indexes ?? []).map(\.definition), to: try given(collection, "collection"),
                in: try given(namespace, "namespace"))
        case "write":
            var records: [(collection: String, record: StoredRecord)] = []
            for form in self.records ?? [] {
                records.append((try given(form.collection, "records/collection"), try form.record()))
            }
            try await store.restore(
                records, overwriting: overwrites ?? false, in: try given(namespace, "namespace"))
        case "check": answer.damage = try await store.findDamage()
        default:
            throw BackplaneError(
                .controlMalformed,
                "expected one of `list`, `read`, `define`, `write` and `check`, found \(operation.debugDescription)",
                at: "/operation")
        }
        return answer
    }

    private func given(_ value: String?, _ key: String) throws(BackplaneError) -> String {
        if let value { return value }
        throw BackplaneError(.controlMalformed, "`\(operation)` requires `\(key)`", at: "/\(key)")
    }
}
