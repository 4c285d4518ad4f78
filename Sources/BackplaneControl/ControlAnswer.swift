import Backplane
import BackplaneHost

/// The lines of a host's answer.
struct ControlAnswer {
    private let socket: LocalSocket
    private var bytes: [UInt8] = []
    /// The number of bytes at the start that are known to contain no newline.
    private var searched = 0
    private var isEnded = false

    init(_ socket: LocalSocket) { self.socket = socket }

    /// Reads the next line, without its newline, or returns `nil` at the end.
    ///
    /// - Throws: `ETIMEDOUT` at the deadline; the call can then be repeated.
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
