package import Backplane

extension BackplaneError {
    /// The error for work for which the system cannot create a thread.
    package static let noThread = BackplaneError(
        .hostExhausted,
        "the system cannot create another thread for the host; raise the limits on processes and memory (`ulimit -u`, `ulimit -v`, the container's pids), or try again when the host is less busy"
    )
}
