import Backplane
import BackplaneRecords
import BackplaneStorage
import Synchronization

/// The definitions of collections by the instances that declare them.
///
/// In a swap an old and a new instance may declare different indexes. While both exist, a collection has the indexes of
/// both; once one has ended, it has those of the other. Changes are made one after another.
final class DeclaredCollections: Sendable {
    fileprivate struct Declaration {
        var owner: UInt64
        var namespace: String
        var definition: CollectionDefinition
    }
    fileprivate struct State {
        /// The declarations, with the latest last.
        var declarations: [Declaration] = []
        /// The last change of indexes that was started.
        var last: Task<Void, Never>?
    }
    private let state = Mutex(State())

    /// Defines the indexes of a collection that an instance declares, in addition to those that others declare.
    func define(
        _ definition: CollectionDefinition, in namespace: String, by owner: UInt64,
        _ apply: @escaping @Sendable (CollectionDefinition) async throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        let task = state.withLock { state in
            state.declarations.removeAll { $0.owner == owner && $0.isOf(definition.name, in: namespace) }
            state.declarations.append(Declaration(owner: owner, namespace: namespace, definition: definition))
            return state.enqueue { [self] in await run(definition.name, in: namespace, apply) }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        try result.get()
    }

    /// Removes the declarations of an instance, and the indexes that no other instance declares.
    ///
    /// A collection that no instance declares keeps its indexes.
    func end(
        _ owner: UInt64,
        _ apply:
            @escaping @Sendable (CollectionDefinition, _ namespace: String)
            async throws(BackplaneError) -> Void
    ) {
        state.withLock { state in
            let ended = state.declarations.filter { $0.owner == owner }
            state.declarations.removeAll { $0.owner == owner }
            for declaration in ended
            where state.declarations.contains(where: { $0.isOf(declaration.definition.name, in: declaration.namespace) }
            ) {
                _ = state.enqueue { [self] in
                    await run(declaration.definition.name, in: declaration.namespace) {
                        definition throws(BackplaneError) in
                        try await apply(definition, declaration.namespace)
                    }
                }
            }
        }
    }

    private func run(
        _ name: String, in namespace: String,
        _ apply: @Sendable (CollectionDefinition) async throws(BackplaneError) -> Void
    ) async -> Result<Void, BackplaneError> {
        let definitions = state.withLock { state in
            state.declarations.filter { $0.isOf(name, in: namespace) }.map(\.definition)
        }
        guard !definitions.isEmpty else { return .success(()) }
        var merged = CollectionDefinition(name)
        for index in definitions.reversed().flatMap(\.indexes)
        where !merged.indexes.contains(where: { $0.name.utf8.elementsEqual(index.name.utf8) }) {
            merged.indexes.append(index)
        }
        do throws(BackplaneError) {
            // The definition of the only one is checked as it is, also for two indexes of one name.
            return .success(try await apply(definitions.count == 1 ? definitions[0] : merged))
        } catch {
            return .failure(error)
        }
    }
}

extension DeclaredCollections.Declaration {
    fileprivate func isOf(_ name: String, in namespace: String) -> Bool {
        definition.name.utf8.elementsEqual(name.utf8) && self.namespace == namespace
    }
}

extension DeclaredCollections.State {
    /// Starts a change of indexes once the previous one has ended.
    fileprivate mutating func enqueue(_ change: @escaping @Sendable () async -> Result<Void, BackplaneError>)
        -> Task<Result<Void, BackplaneError>, Never>
    {
        let before = last
        let task = Task {
            await before?.value
            return await change()
        }
        last = Task { _ = await task.value }
        return task
    }
}
