public import Backplane
import Glibc
import Synchronization

/// A plugin that does what none should: it keeps the thread that it is called on.
public struct BusyLoopPlugin: Plugin {
    public static let id = "org.backplane.tests.busy-loop"
    public static let version: Version = "1.3.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BusyLoop.self)
    }
}

/// Every method ends once the file at the path it is given is there.
public struct BusyLooping: Contract {
    public static let version: Version = "1.0.0"
    /// Computes.
    public let spin = AsyncMethod<String, Nothing>()
    /// Blocks in the kernel.
    public let block = AsyncMethod<String, Nothing>()
    public init() {}
}

final class BusyLoop: Manager {
    typealias Provides = BusyLooping
    private let eaten = Atomic<Int>(0)

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.spin) { busyLoop, path, _ in
            busyLoop.spin(until: path)
            return Nothing()
        }
        table.async(\.block) { busyLoop, path, _ in
            busyLoop.block(until: path)
            return Nothing()
        }
    }

    @inline(never)
    private func spin(until path: String) {
        while access(path, F_OK) != 0 {
            for _ in 0..<10_000_000 { eaten.add(1, ordering: .relaxed) }
        }
    }

    @inline(never)
    private func block(until path: String) {
        while access(path, F_OK) != 0 { usleep(20_000) }
    }
}
