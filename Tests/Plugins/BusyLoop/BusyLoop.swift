public import Backplane
import Glibc
import Synchronization

/// A plugin with a fault: its methods occupy the thread on which they are called.
public struct BusyLoopPlugin: Plugin {
    public static let id = "org.backplane.tests.busy-loop"
    public static let version: Version = "1.3.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BusyLoop.self)
    }
}

/// Methods that return once the file at the given path exists.
public struct BusyLooping: Contract {
    public static let version: Version = "1.0.0"
    /// Occupies the thread by computing.
    public let spin = AsyncMethod<String, Nothing>()
    /// Occupies the thread by blocking in the kernel.
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
