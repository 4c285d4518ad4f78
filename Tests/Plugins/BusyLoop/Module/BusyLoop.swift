public import Backplane
import Glibc
import Synchronization

/// A plugin that does what none should: it keeps the thread that it is called on.
public struct GluttonPlugin: Plugin {
    public static let id = "org.backplane.tests.glutton"
    public static let version: Version = "1.3.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(Glutton.self)
    }
}

/// Every method ends once the file at the path it is given is there.
public struct Gluttony: Contract {
    public static let version: Version = "1.0.0"
    /// Computes.
    public let devour = AsyncMethod<String, Nothing>()
    /// Blocks in the kernel.
    public let doze = AsyncMethod<String, Nothing>()
    public init() {}
}

final class Glutton: Manager {
    typealias Provides = Gluttony
    private let eaten = Atomic<Int>(0)

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.devour) { glutton, path, _ in
            glutton.devour(until: path)
            return Nothing()
        }
        table.async(\.doze) { glutton, path, _ in
            glutton.doze(until: path)
            return Nothing()
        }
    }

    @inline(never)
    private func devour(until path: String) {
        while access(path, F_OK) != 0 {
            for _ in 0..<10_000_000 { eaten.add(1, ordering: .relaxed) }
        }
    }

    @inline(never)
    private func doze(until path: String) {
        while access(path, F_OK) != 0 { usleep(20_000) }
    }
}
