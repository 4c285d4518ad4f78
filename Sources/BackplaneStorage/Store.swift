public import Backplane

/// The host's record store as a data access controller uses it: `context.store`.
///
/// Collections are the component's own: no other component sees them, whatever their names.
public struct Store: Sendable {
    private let exchange: StoreExchange

    init(_ services: ComponentServices) { exchange = StoreExchange(services) }

    /// The records of one type.
    public func collection<R: Record>(_: R.Type = R.self) -> RecordCollection<R> {
        RecordCollection(exchange)
    }
}

extension MayUseStore {
    /// The host's record store.
    public var store: Store { Store(services) }
}
