import Backplane
import BackplaneDocuments
import Synchronization

@testable import BackplaneHost

/// A plugin whose managers call a till by everything there is: a wire, a method of it that is kept, and a look-up.
struct CashierPlugin: Plugin {
    static let id = "org.backplane.tests.cashiers"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Cashier.self)
        registrar.add(RestartingCashier.self)
        registrar.add(Inspector.self)
    }

    /// - Parameter uses: whom each of its wires leads to.
    static func manager(_ className: String, _ uses: [String: String] = ["till": "Till"]) -> ManifestValue {
        ["className": .string(className), "uses": .dictionary(uses.mapValues { .string($0) })]
    }
}

struct Cashiers: Contract {
    static let version: Version = "1.0.0"
    let add = AsyncMethod<Int, Int>()
    let addKept = AsyncMethod<Int, Int>()
    let addFound = AsyncMethod<Int, Int>()
    let act = AsyncMethod<String, String>()
    let sumNow = SyncMethod<Nothing, Int>()
    /// Which of those that were made it is, from 1.
    let number = AsyncMethod<Nothing, Int>()
}

final class Cashier: Manager {
    typealias Provides = Cashiers
    struct Wires: Wiring {
        let till: Wire<Tills>
    }
    private let context: Context
    private let kept: BoundAsync<Int, Int, RequiredFrame>

    init(_ context: Context) {
        self.context = context
        kept = context.wires.till.add
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { cashier, number, call in try await cashier.context.wires.till.add(number, call) }
        table.async(\.addKept) { cashier, number, call in try await cashier.kept(number, call) }
        table.async(\.addFound) { cashier, number, call in
            let till: Wire<Tills> = try await cashier.context.manager("Till", for: call)
            return try await till.add(number, call)
        }
        table.async(\.act) { cashier, text, call in try await cashier.context.wires.till.act(text, call) }
        table.sync(\.sumNow) { cashier, _, call in try cashier.context.wires.till.sumNow(call) }
        table.async(\.number) { _, _, _ in 1 }
    }
}

/// Is made anew with the till it calls.
final class RestartingCashier: Manager {
    typealias Provides = Cashiers
    struct Wires: Wiring {
        let till: Wire<Tills>
    }
    static let restartOnSwap = true
    static let made = Mutex(0)
    private let context: Context
    private let number: Int

    init(_ context: Context) {
        self.context = context
        number = Self.made.withLock {
            $0 += 1
            return $0
        }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { cashier, number, call in try await cashier.context.wires.till.add(number, call) }
        table.async(\.addKept) { cashier, number, call in try await cashier.context.wires.till.add(number, call) }
        table.async(\.addFound) { cashier, number, call in try await cashier.context.wires.till.add(number, call) }
        table.async(\.act) { cashier, text, call in try await cashier.context.wires.till.act(text, call) }
        table.sync(\.sumNow) { cashier, _, call in try cashier.context.wires.till.sumNow(call) }
        table.async(\.number) { cashier, _, _ in cashier.number }
    }
}

/// Is made anew with the cashier it calls.
final class Inspector: Manager {
    typealias Provides = Cashiers
    struct Wires: Wiring {
        let cashier: Wire<Cashiers>
    }
    static let restartOnSwap = true
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { inspector, number, call in try await inspector.context.wires.cashier.add(number, call) }
        table.async(\.addKept) { inspector, number, call in
            try await inspector.context.wires.cashier.addKept(number, call)
        }
        table.async(\.addFound) { inspector, number, call in
            try await inspector.context.wires.cashier.addFound(number, call)
        }
        table.async(\.act) { inspector, text, call in try await inspector.context.wires.cashier.act(text, call) }
        table.sync(\.sumNow) { inspector, _, call in try inspector.context.wires.cashier.sumNow(call) }
        table.async(\.number) { inspector, _, call in try await inspector.context.wires.cashier.number(call) }
    }
}
