import Backplane
import BackplaneHost

/// The lines that come from a host.
struct ControlAnswer {
    private let socket: LocalSocket
    private var bytes: [UInt8] = []
    /// Of those, the ones that are known to have no newline among them.
    private var searched = 0
    private var isEnded = false

    init(_ socket: LocalSocket) { self.socket = socket }

    /// The next line, without its newline; `nil`: there is none any more.
    ///
    /// - Throws: `ETIMEDOUT` at the deadline; it can be asked for again.
    mutating func next(until deadline: Deadline) throws(SystemError) -> [UInt8]? {
        while true {
            if let end = bytes.newline(from: searched) {
                defer {
                    bytes.removeSubrange(...end)
                    searched = 0
                }
                return Array(bytes[..<end])
            }
            searched = bytes.count
            if isEnded { return nil }
            isEnded = try !socket.read(into: &bytes, limit: ControlProtocol.chunk, until: deadline)
        }
    }
}
