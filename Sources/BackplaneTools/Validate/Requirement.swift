/// A requirement that a plugin must meet.
///
/// Numbers are stable across versions; that of a dropped requirement is not reused.
enum Requirement: Int, CaseIterable, Sendable {
    // Requirements of the file, checked without running its code.
    case file = 1, entry, exports, identity, libraries, initialisers, memory, conformances, resources
    // Requirements of the entry function.
    case answer = 11, quiet, threads, files, effort, stable, bounded
    // Requirements of the components.
    case creation = 21, stop, leftovers, malformed, cancellation, once, texts, state, streams

    /// The identifier of the requirement, for example `V01`.
    var id: String { "V" + (rawValue < 10 ? "0" : "") + String(rawValue) }

    var title: String {
        switch self {
        case .file: "the file is a complete library for this machine that a host trusts"
        case .entry: "it exports the entry function"
        case .exports: "it exports nothing that could be confused with another library's symbols"
        case .identity: "its identity section fits this host"
        case .libraries: "it needs no libraries except the toolchain's and libc"
        case .initialisers: "it has no constructors of its own"
        case .memory: "its code is not writable, and its data is not executable"
        case .conformances: "it has no retroactive conformances"
        case .resources: "it does not use Bundle.module"
        case .answer: "it loads, and a host accepts the answer of its entry"
        case .quiet: "its entry does no input or output"
        case .threads: "its entry leaves no threads or processes"
        case .files: "its entry leaves no files open"
        case .effort: "the processor time of its entry, which is reported but not judged"
        case .stable: "two copies of it return the same answer"
        case .bounded: "its entry writes only the fields that an older host provides"
        case .creation: "components can be created, including two of the same class"
        case .stop: "components activate, suspend, resume and stop in time"
        case .leftovers: "a stopped component leaves no threads, processes or files"
        case .malformed: "methods answer malformed JSON with an error"
        case .cancellation: "calls are answered, at the latest when they are cancelled"
        case .once: "everything is answered exactly once"
        case .texts: "answers match their status, and are not too large"
        case .streams: "streams answer with the requested elements, their end or an error, and can be closed"
        case .state: "state that was exported and imported is exported again unchanged"
        }
    }
}
