import Backplane
import BackplaneNetwork
import Glibc
import Synchronization
import TurnstileContracts

/// A communication controller that makes one exchange for each number in the call.
///
/// For a negative number, it makes the exchange outside the call and begins a transfer.
final class ErrandCommunication: CommunicationController, StatefulComponent {
    typealias Provides = Turnstile
    struct Configuration: Decodable, Sendable {
        /// The path of the file that lists how the exchanges outside calls ended.
        var record: String
    }
    private let context: Context
    private let state = Mutex(TurnstileState())

    init(_ context: Context) { self.context = context }

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    /// Makes an exchange that is not idempotent, with an account.
    private func run(_ place: String, _ call: Call) async throws(BackplaneError) {
        var options = HTTPOptions()
        options.credential = "errands"
        let response = try await context.http.send(
            HTTPRequest("POST", "http://errands.test/\(place)"), call, options)
        guard response.status == 204 else {
            throw BackplaneError(.componentFailed, "the errand was answered with status \(response.status)")
        }
    }

    private func begin(_ number: Int) {
        context.tasks.run { [self] in
            let outcome: String
            do throws(BackplaneError) {
                try await run("outside/\(number)", context.begin())
                outcome = "answered"
            } catch {
                outcome = "\(error.code)"
            }
            guard let file = fopen(context.configuration.record, "a") else { return }
            fputs("\(number) \(outcome)\n", file)
            fclose(file)
        }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { communication, number, call in
            if number < 0 {
                communication.begin(-number)
                let id = "errand-\(-number)", url = "http://errands.test/transfer/\(-number)"
                try await communication.context.transfers.begin(Transfer(id, download: url, to: id))
            } else {
                try await communication.run("inside/\(number)", call)
            }
            return communication.state.withLock { $0.pass(0, edition: 1) }
        }
    }
}
