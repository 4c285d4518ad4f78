import Synchronization

/// The number of contexts of graphs and timers that a component has given to its host.
///
/// They are released before the component's instance, which the plugin's release of a context may use.
package final class ContextCount: Sendable {
    private let held = Atomic<Int>(0)

    package init() {}

    /// A Boolean value that indicates whether all contexts have been released.
    package var isZero: Bool { held.load(ordering: .acquiring) == 0 }

    /// Counts one more context, for as long as the returned object exists.
    package func add() -> Use { Use(self) }

    /// The use of one context, for as long as the object exists.
    package final class Use: Sendable {
        private let count: ContextCount

        fileprivate init(_ count: ContextCount) {
            self.count = count
            count.held.wrappingAdd(1, ordering: .relaxed)
        }

        deinit { count.held.wrappingSubtract(1, ordering: .releasing) }
    }
}
