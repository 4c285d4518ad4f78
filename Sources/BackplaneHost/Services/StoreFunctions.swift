import Backplane
import BackplaneRecords
import BackplaneStorage
import CBackplane

/// The functions of `backplane.store/1`.
let storeFunctions = bp_store_1(
    size: UInt32(MemoryLayout<bp_store_1>.size), reserved: 0,
    write: { handle, changes, count, done, context in
        let answer = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.dataAccessController, for: BP_STORE)
            let changes = try [RecordChange](copying: changes, count: count)
            try component.begin()
            Task {
                defer { component.end() }
                do throws(BackplaneError) {
                    _ = try await component.write(RecordBatch(changes), for: nil)
                    answer.end(EncodedAnswer([]))
                } catch {
                    answer.end(EncodedAnswer(error))
                }
            }
        } catch {
            answer.end(EncodedAnswer(error))
        }
    },
    query: { handle, query, done, context in
        let answer = StoreAnswer(done: done, context: ForeignPointer(raw: context))
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.dataAccessController, for: BP_STORE)
            let query = try OffsetQuery(copying: query)
            try component.begin()
            Task {
                defer { component.end() }
                do throws(BackplaneError) {
                    answer.end(
                        .success(try await component.store.page(query, in: component.namespace)), of: query.collection)
                } catch {
                    answer.end(.failure(error), of: query.collection)
                }
            }
        } catch {
            answer.end(.failure(error), of: "")
        }
    })

/// A plugin's callback for the end of a query.
private struct StoreAnswer: Sendable {
    let done: bp_store_done
    /// The plugin's own context, which is passed back unchanged.
    let context: ForeignPointer

    func end(_ result: Result<OffsetPage, BackplaneError>, of collection: String) {
        switch result {
        case .success(let page):
            page.withC(of: collection) {
                done(context.raw, Int32(BP_OK), $0.baseAddress, $0.count, UInt64(page.total), .empty)
            }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, 0, 0, $0) }
        }
    }
}
