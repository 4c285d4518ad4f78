import Backplane
import BackplaneHost

/// The permits for requests that are answered concurrently.
///
/// Recovery requests, such as a rollback, have reserved permits in addition to the shared ones, so that other requests
/// cannot block them. Requests whose duration the client determines have separate permits, so that they block no
/// others.
final class ControlPlaces: Sendable {
    enum Place {
        case shared
        /// A permit reserved for requests of this name.
        case reserved(String)
    }
    private struct State {
        var shared = 0
        var reserved: [String: Int] = [:]
        var waiting = 0
        var isClosed = false
    }
    private let state = Monitor(State())
    private let limits: ControlLimits

    init(_ limits: ControlLimits) { self.limits = limits }

    /// Waits for a permit for a limited time.
    ///
    /// - Throws: `control.busy` if there is no permit, or `host.stopped`.
    func take(for request: ControlRequest) throws(BackplaneError) -> Place {
        let deadline = Deadline.now + limits.waiting, limits = limits
        var waits = false
        let result: Result<Place, BackplaneError> = state.wait { state in
            var result: Result<Place, BackplaneError>?
            if state.isClosed {
                result = .failure(.hostStops)
            } else if request.isLasting {
                if state.reserved[request.name, default: 0] < limits.lasting {
                    state.reserved[request.name, default: 0] += 1
                    result = .success(.reserved(request.name))
                } else {
                    result = .failure(
                        BackplaneError(
                            .controlBusy,
                            "\(limits.lasting) `\(request.name)` requests are in progress, which is the limit; try "
                                + "again when a client has disconnected"
                        ))
                }
            } else if request.endsTrouble, state.reserved[request.name, default: 0] < limits.reserved {
                state.reserved[request.name, default: 0] += 1
                result = .success(.reserved(request.name))
            } else if state.shared < limits.connections {
                state.shared += 1
                result = .success(.shared)
            } else if deadline <= .now || !waits && !request.endsTrouble && state.waiting >= limits.queue {
                result = .failure(
                    BackplaneError(
                        .controlBusy,
                        "\(state.shared) requests are in progress, which is the limit; try again when one has ended"))
            }
            if let result {
                if waits { state.waiting -= 1 }
                return .done(result)
            }
            if !waits { state.waiting += 1 }
            waits = true
            return .until(deadline)
        }
        return try result.get()
    }

    func give(back place: Place) {
        state.withLock { state in
            switch place {
            case .shared: state.shared -= 1
            case .reserved(let name): state.reserved[name]! -= 1
            }
        }
    }

    /// Stops granting permits.
    func close() { state.withLock { $0.isClosed = true } }
}

extension BackplaneError {
    static var hostStops: BackplaneError { BackplaneError(.hostStopped, "the host has stopped or is stopping") }
}
