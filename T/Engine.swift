import BackplaneExchange
import BackplaneNetwork
import BackplaneURLSession
enum Engine: CaseIterable, Sendable {
    case urlSession
    func executor() -> any HTTPExecutor { URLSessionExecutor() }
    var keepsFieldsApart: Bool { false }
}
