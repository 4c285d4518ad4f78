import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The temporary observers of a host, such as those of single traces.
final class ExchangeTaps: Sendable {
    private let taps = Mutex<[UInt64: ExchangeObserver]>([:])
    private let last = Atomic<UInt64>(0)

    var observers: [ExchangeObserver] { taps.withLock { Array($0.values) } }

    /// Adds a function that is called within the exchanges of a trace, and returns the tap's number.
    func add(of trace: String, _ observe: @escaping @Sendable (ExchangeEvent) -> Void) -> UInt64 {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        taps.withLock { $0[number] = ExchangeObserver(within: { if $0.trace == trace { observe($0) } }) }
        return number
    }

    func remove(_ number: UInt64) { taps.withLock { _ = $0.removeValue(forKey: number) } }
}
