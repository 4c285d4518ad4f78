import Backplane
import BackplaneHost

/// What reaches the one task that `backplane dev` decides on.
enum DevNews: Sendable {
    /// What packages consist of was read.
    case packages([Result<DevPackage, BackplaneError>])
    case sources(WatchedChanges)
    case libraries(WatchedChanges)
    case buildLine(String)
    case built(ChildProcess.Ending)
    /// Of the host with this number: an older one's news is nobody's concern.
    case host(HostProcess.News, of: Int)
    case answer(HostAnswer, of: Int)
    case key(DevKey)
    case stop(String)
}

/// What the host has said to what it was asked.
enum HostAnswer: Sendable {
    case swapped(SwapReport)
    case rolledBack(SwapReport)
    case applied(ManifestChange)
    case generations([Generation])
    case refused(DevEvent.Refusal)
}
