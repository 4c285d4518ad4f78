// swift-format-ignore-file

import Backplane
import BackplaneNetwork
import BackplaneStorage

/// The control: what each role has compiles, with these same flags.
struct Loans: Contract {
    static let version: Version = "1.0.0"
    let lend = AsyncMethod<Int, Nothing>()
}

final class Librarian: Manager {
    struct Wires: Wiring {
        let dataAccessController: Wire<Loans>
        let communicationController: Wire<Loans>?
    }
    init(_ context: Context) async throws {
        _ = try await context.wires.dataAccessController.lend(3, context.begin())
        let loans: Wire<Loans> = try await context.manager("Loans")
        _ = try await context.resolve(Loans.self).lend(3, context.begin())
        _ = try await loans.lend(3, context.begin())
        context.log.info("lent")
        context.tasks.run {}
        _ = (context.resources, context.configuration, context.rawConfiguration)
    }
}

final class LoanStore: DataAccessController {
    typealias Provides = Loans
    struct Loan: Record {
        var id: String
    }
    private let loans: RecordCollection<Loan>
    init(_ context: Context) {
        loans = context.store.collection()
        _ = context.folder
    }
    static func methods(_ table: inout Methods) {
        table.async(\.lend) { store, count, _ in
            try await store.loans.save(Loan(id: "\(count)"))
            return Nothing()
        }
    }
}

final class LoanCommunication: CommunicationController {
    struct Wires: Wiring {
        let loans: Wire<Loans>
    }
    init(_ context: Context) {
        _ = (context.wires, context.http)
    }
}

final class LoanService: NetworkService {
    init(_ context: Context) {
        _ = context.http
    }
}

struct LoanPlugin: Plugin {
    static let id = "org.example.loans"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Librarian.self)
        registrar.add(LoanStore.self)
        registrar.add(LoanCommunication.self)
        registrar.add(LoanService.self)
    }
}
