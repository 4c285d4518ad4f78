import Backplane
import BackplaneScreens

/// The screens of loans.
final class LoansScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(LoanList.self)
        table.add(LoanReturn.self)
    }
}

/// The flow of an application with loans: the list of loans has a tab, and at most one modal screen asks about a loan.
final class LoansFlow: Manager {
    typealias Provides = Flow

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.setup) { _, _, _ in .none }
        table.async(\.show) { _, request, _ in
            switch request.screen?.screen {
            case LoanReturn.identifier: request.modals.last == LoanReturn.identifier ? .replace() : .present()
            case LoanList.identifier:
                request.tabs.firstIndex(of: LoanList.identifier).map { .select($0) } ?? .push()
            default: .push()
            }
        }
        table.async(\.dismiss) { _, _, _ in .pop }
    }
}
