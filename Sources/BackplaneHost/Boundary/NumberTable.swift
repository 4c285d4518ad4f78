import Synchronization

/// The values of a process that plugins name by numbers, in shards, because many functions of services begin here.
///
/// A number that a plugin keeps for too long, or guesses, is not found and does no harm. The table belongs to the
/// process, because a number does not identify a host, and a pointer to a host would not outlive it.
final class NumberTable<Value: Sendable>: Sendable {
    private final class Shard: Sendable {
        let values = Mutex<[UInt64: Value]>([:])
    }
    private let shards = (0..<64).map { _ in Shard() }

    private func values(with number: UInt64) -> Shard { shards[Int(number % UInt64(shards.count))] }

    /// Adds a value, and returns its number, which is never reused.
    func add(_ value: Value) -> UInt64 {
        let number = Callbacks.newID()
        values(with: number).values.withLock { $0[number] = value }
        return number
    }

    func find(_ number: UInt64) -> Value? { values(with: number).values.withLock { $0[number] } }

    @discardableResult
    func remove(_ number: UInt64) -> Value? { values(with: number).values.withLock { $0.removeValue(forKey: number) } }

    /// Changes a value, if it is there.
    func change<Result: Sendable>(_ number: UInt64, _ body: (inout Value) -> Result?) -> Result? {
        values(with: number).values.withLock { values in
            guard values[number] != nil else { return nil }
            return body(&values[number]!)
        }
    }

    func compactMap<Result: Sendable>(_ body: (UInt64, Value) -> Result?) -> [Result] {
        shards.flatMap { $0.values.withLock { $0.compactMap { body($0.key, $0.value) } } }
    }
}

/// A permutation of the numbers below 2^52 that differs in every process: a Feistel network of four rounds with random
/// keys.
struct NumberSequence: Sendable {
    static let end: UInt64 = 1 << 52
    private static let half: UInt64 = 1 << 26 - 1
    private let keys = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

    subscript(place: UInt64) -> UInt64 { Self.permuted(place, keys) }

    /// Returns the place at which a number is in the sequence.
    func place(of number: UInt64) -> UInt64 {
        // Backwards, the rounds are the same with their halves exchanged.
        Self.exchanged(Self.permuted(Self.exchanged(number), keys.reversed()))
    }

    private static func permuted(_ number: UInt64, _ keys: some Sequence<UInt64>) -> UInt64 {
        var left = number >> 26 & half, right = number & half
        for key in keys {
            // The finalizer of SplitMix64, half of it.
            var value = right &+ key
            value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
            (left, right) = (right, left ^ (value >> 32 & half))
        }
        return left << 26 | right
    }

    private static func exchanged(_ number: UInt64) -> UInt64 { (number & half) << 26 | number >> 26 }
}
