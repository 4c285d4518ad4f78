/// A state of ``LeaseModel``, packed into two words so that many can be remembered.
struct LeaseState: Hashable {
    private var callers: UInt64 = 0
    private var shared: UInt64 = 0

    enum Count: Int {
        case entry, leave
    }

    /// Bits of ``shared``: slot, dead bindings, flip, the flipper's place, its sum, and eight counters.
    private subscript(_ start: Int, _ width: Int) -> Int {
        get { Int(shared >> UInt64(start) & (1 << UInt64(width) - 1)) }
        set { shared = shared & ~((1 << UInt64(width) - 1) << UInt64(start)) | UInt64(newValue) << UInt64(start) }
    }

    /// Which binding the slot holds.
    var slot: Int {
        get { self[0, 1] }
        set { self[0, 1] = newValue }
    }
    /// Of the flips, those that are done.
    var flip: Int {
        get { self[3, 2] }
        set { self[3, 2] = newValue }
    }
    /// Which binding the flipper takes out, or has taken out and waits for.
    var draining: Int { flip % 2 }
    /// Where the flipper is in one flip: ``exchange``, ``barrier``, and the counters it reads, from ``firstRead`` on.
    var place: Int {
        get { self[5, 3] }
        set { self[5, 3] = newValue }
    }
    static let exchange = 0, barrier = 1, firstRead = 2
    /// Entries less leaves, as far as the flipper has read them.
    var sum: Int {
        get { self[8, 6] - 32 }
        set { self[8, 6] = newValue + 32 }
    }

    /// The flipper saw the binding drained and has given its cells up.
    func isDead(_ binding: Int) -> Bool { self[1 + binding, 1] == 1 }
    mutating func setDead(_ binding: Int, _ isDead: Bool) { self[1 + binding, 1] = isDead ? 1 : 0 }

    func counter(_ count: Count, _ binding: Int, _ processor: Int) -> Int {
        self[Self.start(count, binding, processor), 4]
    }
    mutating func count(_ count: Count, _ binding: Int, _ processor: Int) {
        self[Self.start(count, binding, processor), 4] += 1
    }
    private static func start(_ count: Count, _ binding: Int, _ processor: Int) -> Int {
        16 + 4 * (4 * count.rawValue + 2 * binding + processor)
    }

    /// The same state with less to remember: what was counted before the flipper begins to read is one number, wherever
    /// it was counted, since each counter is read once and only sums are compared.
    func gathered() -> LeaseState {
        var state = self
        for binding in 0..<2 where !(binding == draining && place > Self.firstRead) {
            let (entered, left) = (
                counter(.entry, binding, 0) + counter(.entry, binding, 1),
                counter(.leave, binding, 0) + counter(.leave, binding, 1)
            )
            for processor in 0..<2 {
                state[Self.start(.entry, binding, processor), 4] = processor == 0 ? entered - left : 0
                state[Self.start(.leave, binding, processor), 4] = 0
            }
        }
        return state
    }

    init() { sum = 0 }
}

extension LeaseState {
    struct Caller: Hashable {
        enum Phase: UInt64 {
            case loads, countsIn, rechecks, uses, countsOut, givesUp, done
        }
        var phase: Phase
        var binding: Int
        /// What the store buffer holds, the oldest in the lowest bits: kind, binding, processor.
        fileprivate var buffered: UInt64
        private(set) var pending: Int

        fileprivate init(_ bits: UInt64) {
            phase = Phase(rawValue: bits & 7)!
            binding = Int(bits >> 3 & 1)
            pending = Int(bits >> 4 & 3)
            buffered = bits >> 6 & 63
        }

        fileprivate var bits: UInt64 { phase.rawValue | UInt64(binding) << 3 | UInt64(pending) << 4 | buffered << 6 }

        /// `false`: it has no room, or holds what was counted on the other processor.
        mutating func buffer(_ count: Count, on processor: Int) -> Bool {
            guard pending < 2, pending == 0 || Int(buffered >> 2 & 1) == processor else { return false }
            buffered |= (UInt64(count.rawValue) | UInt64(binding) << 1 | UInt64(processor) << 2) << UInt64(3 * pending)
            pending += 1
            return true
        }

        fileprivate mutating func takeOldest() -> (Count, binding: Int, processor: Int) {
            defer { (buffered, pending) = (buffered >> 3, pending - 1) }
            return (Count(rawValue: Int(buffered & 1))!, Int(buffered >> 1 & 1), Int(buffered >> 2 & 1))
        }
    }

    subscript(caller number: Int) -> Caller {
        get { Caller(callers >> UInt64(16 * number) & 0xFFFF) }
        set { callers = callers & ~(0xFFFF << UInt64(16 * number)) | newValue.bits << UInt64(16 * number) }
    }

    /// The same state with the first `count` callers, which are all, in one order, whichever they were in.
    func withCallersInOrder(_ count: Int) -> LeaseState {
        var state = self
        let parts = (0..<count).map { callers >> UInt64(16 * $0) & 0xFFFF }.sorted()
        state.callers = parts.reversed().reduce(0) { $0 << 16 | $1 }
        return state
    }

    /// What the caller counted first becomes visible to all.
    mutating func flush(_ number: Int) {
        let (count, binding, processor) = self[caller: number].takeOldest()
        self.count(count, binding, processor)
    }

}
