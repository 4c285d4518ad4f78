import Backplane
import Glibc

/// What the log says of an occupied pool.
struct PoolReport {
    static let occupied = "Swift's thread pool is occupied: tasks of every component and of the host wait"
    static let over = "Swift's thread pool is free again"

    /// "org.example.books 1.2.0 (libBooks.so): 2 threads, in Books.Shelf.count() -> Swift.Int"
    let occupants: String

    /// - Parameter functionName: of what lies at a place; `nil` where no symbol says.
    init(_ occupation: PoolOccupation, functionName: (PoolOccupation.Place) -> String?) {
        var parts = occupation.occupants.map { occupant in
            let function = occupant.places.prefix(8).lazy.compactMap(functionName).first.map { ", in \($0)" } ?? ""
            return "\(Self.name(occupant.owner)): \(Self.threads(occupant.threads))\(function)"
        }
        if occupation.unreachable > 0 {
            parts.append("\(Self.threads(occupation.unreachable)) that could not be looked at, SIGPROF being blocked or in use")
        }
        occupants = parts.joined(separator: "; ")
    }

    private static func name(_ owner: PoolOccupation.Occupant.Owner) -> String {
        switch owner {
        case .plugin(let image): image.description
        case .other(let path): "\(FilePath.name(of: path)), which is no plugin of this host"
        }
    }

    private static func threads(_ count: Int) -> String { count == 1 ? "1 thread" : "\(count) threads" }

    func record(waited: Duration) -> LogRecord {
        LogRecord(level: .warning, source: "host", message: Self.occupied, metadata: ["by": occupants, "waited": Self.seconds(waited)])
    }

    func recordOver(lasted: Duration) -> LogRecord {
        LogRecord(level: .warning, source: "host", message: Self.over, metadata: ["by": occupants, "lasted": Self.seconds(lasted)])
    }

    /// "1.5 s"
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .seconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

extension PoolOccupation.Place {
    /// The function there, from the symbols of the file itself; larger ones are not read for it.
    func functionName(sizeLimit: Int = 1 << 28) -> String? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY), let status = try? FileStatus(of: file), status.size <= sizeLimit,
            let bytes = try? file.bytes(count: status.size), let image = try? ELFImage(bytes)
        else { return nil }
        return image.functionName(at: offset)
    }
}
