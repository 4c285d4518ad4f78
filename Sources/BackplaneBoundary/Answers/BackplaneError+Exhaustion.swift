package import Backplane

extension BackplaneError {
    /// The error of work for which the system gives the host no thread.
    package static let noThread = BackplaneError(
        .hostExhausted,
        "the system gives the host no thread for this; raise its limits of processes and of memory (`ulimit -u`, `ulimit -v`, the container's pids), or try again when less is under way"
    )
}
