import Backplane
import BackplaneRecords
import BackplaneStorage
import CBackplane

/// The functions of `backplane.store/2`.
let secondStoreFunctions = bp_store_2(
    size: UInt32(MemoryLayout<bp_store_2>.size), reserved: 0,
    define: { handle, collection, call, done, context in
        let reply = Reply(done, context)
        return start(handle, call) { component throws(BackplaneError) in
            let definition = try CollectionDefinition(copying: collection)
            return { () throws(BackplaneError) in
                try await component.store.define(definition, in: component.namespace, by: handle)
            }
        } answer: { result in
            reply.end(result.map { EncodedAnswer([]) })
        }
    },
    write: { handle, batch, call, done, context in
        let reply = WrittenReply(done: done, context: ForeignPointer(raw: context))
        return start(handle, call) { component throws(BackplaneError) in
            let batch = try RecordBatch(copying: batch), trace = call.flatMap { Call(copying: $0).trace }
            return { () throws(BackplaneError) in try await component.write(batch, for: trace) }
        } answer: { result in
            reply.end(result)
        }
    },
    read: { handle, selection, call, done, context in
        let reply = PageReply(done: done, context: ForeignPointer(raw: context))
        return start(handle, call) { component throws(BackplaneError) in
            let query = try RecordQuery(copying: selection)
            return { () throws(BackplaneError) in try await component.store.read(query, in: component.namespace) }
        } answer: { result in
            reply.end(result)
        }
    },
    count: { handle, selection, call, done, context in
        let reply = Reply(done, context)
        return start(handle, call) { component throws(BackplaneError) in
            let query = try RecordQuery(copying: selection)
            return { () throws(BackplaneError) in try await component.store.count(query, in: component.namespace) }
        } answer: { result in
            reply.end(result.map { EncodedAnswer(Array("\($0)".utf8)) })
        }
    },
    changes: { handle, collection, since, limit, call, done, context in
        let reply = ChangesReply(done: done, context: ForeignPointer(raw: context))
        return start(handle, call) { component throws(BackplaneError) in
            let collection = collection.text, limit = Int(clamping: limit)
            return { () throws(BackplaneError) in
                try await component.store.changes(
                    of: collection, since: since, limit: limit, in: component.namespace)
            }
        } answer: { result in
            reply.end(result)
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.serviceOperations.cancel(id) },
    search: { handle, search, call, done, context in
        let reply = PageReply(done: done, context: ForeignPointer(raw: context))
        return start(handle, call) { component throws(BackplaneError) in
            let query = try RecordQuery(copying: search)
            return { () throws(BackplaneError) in try await component.store.read(query, in: component.namespace) }
        } answer: { result in
            reply.end(result)
        }
    },
    wait: { handle, collection, since, call, done, context in
        let reply = Reply(done, context)
        return start(handle, call, isWait: true) { component throws(BackplaneError) in
            let collection = collection.text
            return { () throws(BackplaneError) in
                try await component.store.waitForChange(of: collection, since: since, in: component.namespace)
            }
        } answer: { result in
            reply.end(result.map { EncodedAnswer([]) })
        }
    })

private typealias Operation<Value> = @Sendable () async throws(BackplaneError) -> Value

/// Starts an operation of the component with a handle; its arguments are read before this function returns.
///
/// - Parameter isWait: Whether the operation has no end of its own, so that it ends with the component.
private func start<Value: Sendable>(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, isWait: Bool = false,
    _ prepare: (OfferedServices) throws(BackplaneError) -> Operation<Value>,
    answer: @escaping @Sendable (Result<Value, BackplaneError>) -> Void
) -> UInt64 {
    do throws(BackplaneError) {
        let component = try ComponentHandles.require(handle)
        try component.require(.dataAccessController, for: BP_STORE)
        let operation = try prepare(component)
        try component.begin(isWait: isWait)
        return component.serviceOperations.start(call.map { Call(copying: $0) }, isWait: isWait, operation) { result in
            answer(result)
            component.end(isWait: isWait)
        }
    } catch {
        answer(.failure(error))
        return 0
    }
}

extension Reply {
    /// Ends with a result.
    func end(_ result: Result<EncodedAnswer, BackplaneError>) {
        switch result {
        case .success(let answer): end(answer)
        case .failure(let error): end(error)
        }
    }
}
