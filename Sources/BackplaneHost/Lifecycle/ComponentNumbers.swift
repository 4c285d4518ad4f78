import Backplane

/// The numbers that components have in the path of calls: each one's own while it lives.
struct ComponentNumbers {
    private var last: UInt16 = 0
    /// Of components that have ended, the first to end first: so a number is away as long as possible before it means another.
    private var free: [UInt16] = []

    /// - Throws: located where the component is defined, when all are taken.
    mutating func take(for node: Plan.Node) throws(BackplaneError) -> UInt16 {
        if last < .max {
            last += 1
            return last
        }
        guard !free.isEmpty else {
            throw BackplaneError(
                .componentFailed, "\(node.name) cannot be made: \(UInt16.max) components are up, as many as a call's path can name; use fewer, or another host",
                at: node.location)
        }
        return free.removeFirst()
    }

    var inUse: Int { Int(last) - free.count }

    mutating func giveBack(_ number: UInt16) {
        free.append(number)
    }
}
