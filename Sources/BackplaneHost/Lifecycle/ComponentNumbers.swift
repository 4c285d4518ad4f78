import Backplane

/// The numbers that identify components in the path of calls, each unique among living components.
struct ComponentNumbers {
    private var last: UInt16 = 0
    /// The numbers of components that have ended, the earliest first, so that a number is reused as late as possible.
    private var free: [UInt16] = []

    /// Returns a free number.
    ///
    /// - Throws: An error at the component's definition if all numbers are in use.
    mutating func take(for node: Plan.Node) throws(BackplaneError) -> UInt16 {
        if last < .max {
            last += 1
            return last
        }
        guard !free.isEmpty else {
            throw BackplaneError(
                .componentFailed,
                "\(node.name) cannot be created: \(UInt16.max) components are running, which is the limit of a "
                    + "call's path; use fewer, or a second host",
                at: node.location)
        }
        return free.removeFirst()
    }

    var inUse: Int { Int(last) - free.count }

    mutating func giveBack(_ number: UInt16) {
        free.append(number)
    }
}
