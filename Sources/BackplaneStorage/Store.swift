public import Backplane

/// The host's record store for data access controllers: `context.store`.
///
/// Collections belong to the component: no other component sees them, whatever their names.
public struct Store: Sendable {
    private let exchange: StoreExchange

    init(_ services: ComponentServices) { exchange = StoreExchange(services) }

    /// Returns the collection of one type's records.
    public func collection<R: Record>(_: R.Type = R.self) -> RecordCollection<R> {
        RecordCollection(exchange)
    }
}

extension MayUseStore {
    /// The host's record store.
    public var store: Store { Store(services) }
}
