import Backplane
import BackplaneBoundary
import Synchronization

/// A graph that an instance has saved for its successor.
struct SavedGraph: Sendable {
    let number: UInt64
    let name: String
    /// The name of the definition by which the successor continues it.
    let definition: String
    let bytes: [UInt8]
}

// The graphs of instances that are swapped.
extension HostOperations {
    /// Returns whether an instance has definitions of graphs that survive swaps.
    func defines(_ owner: UInt64) -> Bool { state.withLock { $0.definitions.values.contains { $0.owner == owner } } }

    /// Returns whether an instance runs graphs that survive swaps.
    func hasSurvivingGraphs(of owner: UInt64) -> Bool {
        state.withLock { $0.graphs.values.contains { $0.owner == owner && $0.definition != nil } }
    }

    /// Returns the numbers of an instance's graphs that end with its code, excluding those that are nodes of others.
    func unnamed(of owner: UInt64) -> Set<UInt64> {
        state.withLock { state in
            Set(
                state.graphs.lazy.filter { $0.value.owner == owner && $0.value.definition == nil && !$0.value.isPart }
                    .map(\.key))
        }
    }

    /// Returns the names of graphs that have not ended.
    func names(of numbers: Set<UInt64>) -> [String] {
        state.withLock { state in numbers.sorted().compactMap { state.graphs[$0]?.name } }
    }

    /// Returns whether a graph has not ended.
    func isRunning(_ number: UInt64) -> Bool { state.withLock { $0.graphs[number] != nil } }

    /// Returns the names of the graphs of an instance for which its successor has no definition.
    func unknown(of owner: UInt64, to successor: UInt64?) -> [String] {
        state.withLock { state in
            let known = Set(state.definitions.values.lazy.filter { $0.owner == successor }.map(\.name))
            return state.survivors(of: owner).filter { !known.contains($0.graph.definition ?? "") }.map {
                $0.graph.name
            }
        }
    }

    /// Returns the names of the graphs of an instance that survive swaps and are not halted.
    func moving(of owner: UInt64) -> [String] {
        state.withLock { $0.survivors(of: owner) }.filter { $0.graph.standstill != .reached }.map { $0.graph.name }
    }

    /// Returns whether all graphs of an instance that survive swaps are halted.
    func standStill(of owner: UInt64) -> Bool {
        state.withLock { state in
            state.graphs.values.allSatisfy {
                $0.owner != owner || $0.definition == nil || $0.standstill == .reached
            }
        }
    }

    /// The number of graphs of an instance.
    func count(of owner: UInt64) -> Int {
        state.withLock { state in state.graphs.values.count(where: { $0.owner == owner }) }
    }

    /// Halts the graphs of an instance that survive swaps.
    func hold(_ owner: UInt64) {
        let numbers = state.withLock { state in
            state.held.insert(owner)
            return state.survivors(of: owner).map { $0.number }
        }
        hold(numbers)
    }

    func hold(_ numbers: [UInt64]) {
        for number in numbers {
            let request = Callbacks.newID()
            let functions = state.withLock { state -> OperationFunctions? in
                guard let graph = state.graphs[number], graph.standstill == .unrequested else { return nil }
                state.graphs[number]?.standstill = .requested(request)
                return graph.functions
            }
            guard let functions else { continue }
            functions.hold { [weak self] answer in
                guard let self, (try? answer.get()) != nil else { return }
                state.withLock { state in
                    guard state.graphs[number]?.standstill == .requested(request) else { return }
                    state.graphs[number]?.standstill = .reached
                }
            }
            // The instance may go on since the graph began, even since before the graph was asked to halt.
            let goesOn = state.withLock { state in
                guard let graph = state.graphs[number], graph.functions === functions,
                    !state.held.contains(graph.owner)
                else { return false }
                state.graphs[number]?.standstill = .unrequested
                return true
            }
            if goesOn { functions.goOn() }
        }
    }

    /// Resumes the graphs of an instance that were requested to halt.
    func goOn(_ owner: UInt64) {
        let waiting = state.withLock { state in
            state.held.remove(owner)
            let waiting = state.survivors(of: owner).filter { $0.graph.standstill != .unrequested }
            for (number, _) in waiting {
                state.graphs[number]?.standstill = .unrequested
                state.graphs[number]?.deferred = nil
            }
            return waiting
        }
        for (_, graph) in waiting {
            graph.functions.goOn()
            for deferred in graph.deferred ?? [] { graph.functions.change(deferred.change.number, node: deferred.node) }
        }
    }

    /// Cancels graphs.
    func cancel(_ numbers: Set<UInt64>) {
        for graph in state.withLock({ state in numbers.compactMap { state.graphs[$0] } }) {
            graph.functions.change(OperationChange.cancel.number, node: nil)
        }
    }

    /// Cancels all graphs of an instance.
    func cancelAll(of owner: UInt64) {
        goOn(owner)
        let graphs = state.withLock { state in state.graphs.values.filter { $0.owner == owner } }
        for graph in graphs { graph.functions.change(OperationChange.cancel.number, node: nil) }
    }

    /// Cancels the graphs of an instance that survive swaps, or ends those that are halted.
    func giveUp(of owner: UInt64) {
        let graphs = state.withLock { $0.survivors(of: owner) }
        for (_, graph) in graphs where graph.standstill == .unrequested {
            graph.functions.change(OperationChange.cancel.number, node: nil)
        }
        abandon(graphs.filter { $0.graph.standstill != .unrequested }.map { $0.number }, of: owner)
    }

    /// Cancels the graphs of an instance for which its successor has no definition.
    func cancelUnknown(of owner: UInt64, to successor: UInt64?) {
        let names = Set(unknown(of: owner, to: successor))
        for (_, graph) in state.withLock({ $0.survivors(of: owner) }) where names.contains(graph.name) {
            graph.functions.change(OperationChange.cancel.number, node: nil)
        }
    }

    /// Returns the halted graphs of an instance, and defers further changes until they continue.
    func saving(of owner: UInt64) -> [(number: UInt64, graph: Graph)] {
        state.withLock { state in
            let graphs = state.survivors(of: owner).filter { $0.graph.standstill == .reached }
            for (number, _) in graphs { state.graphs[number]?.deferred = [] }
            return graphs
        }
    }

    /// Returns whether an instance has a definition with a name.
    func hasDefinition(_ name: String, of owner: UInt64) -> Bool {
        state.withLock { $0.definition(name, of: owner) } != nil
    }

    /// Returns a definition of an instance, which may continue a graph from then on.
    func definition(_ name: String, of owner: UInt64, continuing number: UInt64) -> OperationDefinitionFunctions? {
        state.withLock { state in
            guard let definition = state.definition(name, of: owner) else { return nil }
            state.graphs[number]?.successor = owner
            return definition.functions
        }
    }

    /// Ends halted graphs that no code continues.
    func abandon(_ numbers: [UInt64], of owner: UInt64) {
        let graphs = state.withLock { state in
            numbers.compactMap { number in
                state.graphs[number]?.owner == owner ? state.graphs.removeValue(forKey: number) : nil
            }
        }
        for graph in graphs { graph.functions.leave() }
    }
}

extension HostOperations.State {
    fileprivate func definition(_ name: String, of owner: UInt64) -> HostOperations.Definition? {
        definitions.values.first { $0.owner == owner && $0.name == name }
    }
}
