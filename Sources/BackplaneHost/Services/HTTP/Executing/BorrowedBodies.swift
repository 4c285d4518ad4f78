import Synchronization

/// The bodies of exchanges that plugin executors carry out, by number.
///
/// A component receives a number and never a pointer, as with `OutstandingChunks`. A number does not identify a host,
/// and the table belongs to the process.
enum BorrowedBodies {
    /// A body of an exchange in progress.
    enum Body: Sendable {
        case request(OutgoingBody)
        case response(IncomingBody)
    }
    private static let bodies = Mutex<[UInt64: Body]>([:])

    /// Lends a body, and returns its number.
    ///
    /// It is random, so that no component finds the bodies of others by counting, and below 2^53, so that every reader
    /// of JSON represents it exactly.
    static func lend(_ body: Body) -> UInt64 {
        bodies.withLock { bodies in
            while true {
                let number = UInt64.random(in: 1..<(1 << 53))
                guard bodies[number] == nil else { continue }
                bodies[number] = body
                return number
            }
        }
    }

    static func find(_ number: UInt64) -> Body? { bodies.withLock { $0[number] } }

    static func takeBack(_ number: UInt64) { bodies.withLock { _ = $0.removeValue(forKey: number) } }
}
