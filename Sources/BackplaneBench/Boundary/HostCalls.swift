import Backplane
import YardstickContracts

/// The measured loops, written like the calls of a host program: each call takes the result of the previous one.
enum HostCalls {
    @inline(never)
    static func add(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await yardstick.add(number, call) }
        return number
    }

    /// Makes the calls with the method stored outside the loop.
    @inline(never)
    static func addHeld(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        let add = yardstick.add
        var number = 0
        for _ in 0..<count { number = try await add(number, call) }
        return number
    }

    /// Makes the calls without a frame, so that each call creates one.
    @inline(never)
    static func addWithoutFrame(_ yardstick: Remote<Yardstick>, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await yardstick.add(number) }
        return number
    }

    @inline(never)
    static func next(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await yardstick.next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func nextHeld(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        let next = yardstick.next
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func nextEncoded(_ yardstick: Remote<EarlierYardstick>, _ call: Call, _ count: Int)
        async throws(BackplaneError) -> Int
    {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await yardstick.next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func addNow(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try yardstick.addNow(number, call) }
        return number
    }

    @inline(never)
    static func nextNow(_ yardstick: Remote<Yardstick>, _ call: Call, _ count: Int) throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try yardstick.nextNow(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func tally(_ tally: Remote<Tally>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await tally.add(number, call) }
        return number
    }
}
