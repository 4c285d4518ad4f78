import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import Synchronization

/// Calls a method of an application again and again, whatever happens to its code meanwhile.
final class BusyCaller: Sendable {
    private struct State {
        var answered = 0, failures: [String] = [], isOver = false
    }
    private let state = Mutex(State())
    private let thread = DispatchGroup()

    init(_ control: String, _ manager: String, _ method: String) {
        let request = CallRequest(manager: manager, method: method, input: nil, timeout: nil),
            client = ControlClient(control)
        thread.enter()
        Thread.detachNewThread { [self] in
            while state.withLock({ !$0.isOver }) {
                do throws(BackplaneError) {
                    _ = try client.ask(request)
                    state.withLock { $0.answered += 1 }
                } catch {
                    state.withLock { $0.failures.append(error.description) }
                }
            }
            thread.leave()
        }
    }

    deinit { state.withLock { $0.isOver = true } }

    /// Ends it, and gives how many calls were answered, and why others were not.
    func end() -> (answered: Int, failures: [String]) {
        state.withLock { $0.isOver = true }
        thread.wait()
        return state.withLock { ($0.answered, $0.failures) }
    }
}
