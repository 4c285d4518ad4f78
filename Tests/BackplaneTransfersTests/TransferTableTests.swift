import Backplane
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import Foundation
import Testing

@testable import BackplaneTransfers

/// Decisions about transfers at moments that a server cannot bring about.
struct TransferTableTests {
    private static var transfer: Transfer {
        var transfer = Transfer("whale", download: "http://books.test/whale", to: "/whale.epub")
        (transfer.credential, transfer.account) = ("library", "ann")
        return transfer
    }
    private let key = ExactText("whale")

    private func phase(_ table: TransferTable) -> TransferState.Phase? { table.entries[key]?.state.phase }

    @Test func `numbers go on after a record that cannot be read`() async throws {
        let store = MemoryRecordStore(), records = TransferRecords(store: store)
        #expect(try await records.define() == 0)
        let damaged = StoredRecord(id: "whale", value: Array(#"{"number": 7, "isOpen": true}"#.utf8))
        try await store.write([.save(collection: "transfers", damaged)], in: TransferPool.namespace)
        #expect(try await records.define() == 7)
    }

    @Test(arguments: ["{}", #"{"bytes": "", "file": "a"}"#])
    func `a piece of a body that is neither bytes nor a file is refused`(piece: String) {
        let json = #"{"id": "whale", "url": "http://books.test/", "body": [\#(piece)]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Transfer.self, from: Data(json.utf8)) }
    }

    @Test func `a transfer that fails without its account goes on if that was signed in meanwhile`() throws {
        let withoutAccount = TransferTable.Outcome.failed(BackplaneError(.networkCredential, "it is not signed in"))
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(Self.transfer)
        #expect(phase(table) == .running)
        table.resumeWaiting(for: "library", account: "bob")
        table.ended(key, withoutAccount)
        #expect(phase(table) == .paused)
        table.resumeWaiting(for: "library", account: "ann")
        #expect(phase(table) == .running)
        // Signed in once more after the run has failed, and before that is known.
        table.resumeWaiting(for: "library", account: "ann")
        table.ended(key, withoutAccount)
        #expect(phase(table) == .running)
        // That was the account of the run before.
        table.ended(key, withoutAccount)
        #expect(phase(table) == .paused)
    }

    @Test func `a run keeps its settings and its body, and no digest is lifted`() throws {
        func download(_ sha256: [UInt8]?, _ limit: Int64? = nil) -> Transfer {
            var transfer = Transfer("whale", download: "http://books.test/whale", to: "/whale.epub")
            (transfer.existing, transfer.sha256, transfer.sizeLimit) = (.number, sha256, limit)
            return transfer
        }
        func settings(_ table: TransferTable) -> Transfer? { table.entries[key]?.transfer }
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(download([1]))
        try table.resume(key, with: download(nil, 5))
        #expect(settings(table)?.sha256 == [1] && settings(table)?.sizeLimit == nil)
        table.ended(key, .failed(BackplaneError(.networkFailed, "the server is away")))
        try table.resume(key, with: download(nil, 5))
        #expect(settings(table)?.sha256 == [1] && settings(table)?.sizeLimit == 5)
        #expect(settings(table)?.existing == .number)

        func upload(_ text: String) -> Transfer {
            Transfer("whale", upload: HTTPRequest("PUT", "http://books.test/whale", body: Array(text.utf8)))
        }
        var uploads = TransferTable(TransferOptions(), lastNumber: 0)
        try uploads.begin(upload("first"))
        try uploads.resume(key, with: upload("second"))
        #expect(uploads.entries[key]?.transfer.request.body.bytes == Array("first".utf8))
    }

    @Test func `a transfer that runs is not removed`() throws {
        var table = TransferTable(TransferOptions(), lastNumber: 0)
        try table.begin(Self.transfer)
        table.remove(key)
        #expect(table.entries[key] != nil)
        table.ended(key, .ended)
        table.remove(key)
        #expect(table.entries.isEmpty && table.isRemoved(key))
    }
}
